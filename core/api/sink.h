// What a sink offers: it takes splits over, holds one open transaction per epoch, and moves its ledger in the same
// transaction as the rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "core/api/dead_letter.h"
#include "core/model/batch.h"
#include "core/model/ids.h"
#include "core/model/reject.h"
#include "core/model/schema.h"

namespace sluice {

class SplitNames;  // core/api/source.h

// A split taken over: where it goes on, and the generation under which alone this process may move it.
struct Claim {
  std::int64_t position = 0;
  Generation generation{};
  Epoch epoch{};  // of the last move, by whatever process

  bool operator==(const Claim&) const = default;
};
using Claims = std::map<Split, Claim>;

// What the ledger says of a split.
struct Known {
  std::int64_t position = 0;
  Generation generation{};
  Epoch epoch{};  // of the last commit; 0: nothing was committed since the row was made
  // Of the topics that the position belongs to: several where the sinks of a group differ; none: not known.
  std::set<std::string> topic_ids;
  bool moved_by_hand = false;  // and not taken over since
  bool whole = true;           // false: another sink of the group does not know the split

  bool operator==(const Known&) const = default;
};

// One compare-and-set of the ledger: only a row that still says (generation, from) is moved to `to`, which is behind
// `from` but for a log that has lost its end.
struct Move {
  Split split;
  Generation generation{};
  std::int64_t from = 0;
  std::int64_t to = 0;

  bool operator==(const Move&) const = default;
};

// Where an epoch ends: one move for each split whose position changed.
struct Cut {
  Epoch epoch{};
  std::vector<Move> moves;
};

enum class WriteMode {
  streaming,  // as fast as the sink can; that the server refuses a row may be noticed only at commit(), as an Error
              // (bad_record) that does not say which one
  isolating,  // every row is on the server, or among the rejects, when write() returns, but for rules that are declared
              // to be checked at the commit
  strict,     // the same, and such rules are checked at once, row by row
};

// One per task, used by that task's thread only. Life: take_over, { (write | set_aside)*, commit | abort }*, release.
// Errors: retryable, in_doubt, bad_record, fenced, fatal. After any of them the writer is good for nothing but its
// destructor, which rolls an open epoch back.
class SinkWriter {
 public:
  virtual ~SinkWriter() = default;

  // Once, before the first write(): the names behind the rows' origins. They outlive the writer.
  virtual void name_splits(const SplitNames&) {}

  // Those of the splits that the ledger knows. Changes nothing.
  virtual std::map<Split, Known> known(const std::vector<Split>& splits) = 0;

  // Raises the generation of each split and returns where it goes on: the ledger's position, or for a split that the
  // ledger does not know the one given here, which is then in the ledger. Waits for a commit of the old owner that is
  // in flight, and ends the sessions of an owner that did not release the split. No epoch may be open.
  // `held` are claims that this process still believes in: a split whose generation another process has grown since
  // throws fenced. One that grew by this process's own last try, whose answer was lost, is taken over again. A split
  // that is not held and was taken over by another process since known() told of it throws retryable: this process may
  // have slept, and is not to fence its heir.
  // `topics` are remembered with the positions.
  virtual Claims take_over(const Positions& starts, const Claims& held, const TopicIds& topics) = 0;

  // Adds rows to the open epoch; the first call opens it. Keeps nothing of the batch. Rows that cannot be written are
  // left out and appended to `rejects`: in either mode those that the sink refuses without asking the server.
  virtual void write(const std::string& topic, const Batch& batch, WriteMode mode, std::vector<Reject>& rejects) = 0;

  // Adds letters to the open epoch: they are there if and only if its rows are. A letter of the same record is
  // replaced.
  virtual void set_aside(std::span<const DeadLetter> letters) = 0;

  // What was written so far is on the server and accepted, and rules that it would check at the commit are checked now,
  // as far as it can. For those who must know before they give something away.
  virtual void flush() {}

  // Ends the epoch: rows, then the ledger by compare-and-set, then commit. On return all of it is durable; a ledger
  // that does not say what the cut expects throws fenced or retryable, and nothing of the epoch is left.
  // A cut without rows moves the ledger alone.
  virtual void commit(const Cut& cut) = 0;

  // Rolls the open epoch back, if there is one.
  virtual void abort() noexcept = 0;

  // The splits leave in order: whoever takes them over need not end this writer's sessions. No epoch may be open.
  virtual void release(const Claims& claims) = 0;
};

// Made once per job, shared by its tasks; open_writer() and bind() may be called from any thread.
class Sink {
 public:
  virtual ~Sink() = default;

  // Reaches the server, creates or upgrades the recovery tables when `migrate`, checks rights and tables.
  virtual void prepare(bool migrate) = 0;

  // The cells that rows of this topic must have. Creates the table when the job says so; `infer` then yields the
  // fields of a sample and is called at most once, before anything is written.
  virtual RowShape bind(const std::string& topic, const std::function<std::vector<Field>()>& infer) = 0;

  virtual std::unique_ptr<SinkWriter> open_writer(std::size_t task) = 0;

  // The whole ledger of the job, for bounded runs and for `status`.
  virtual Positions positions() = 0;
};

}  // namespace sluice
