// What a sink offers: it takes splits over, holds one open transaction per epoch, and moves its ledger in the same
// transaction as the rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/model/batch.h"
#include "core/model/ids.h"
#include "core/model/schema.h"

namespace sluice {

// A split taken over: where it goes on, and the generation under which alone this process may move it.
struct Claim {
  std::int64_t position = 0;
  Generation generation{};
  Epoch epoch{};  // of the last move, by whatever process

  bool operator==(const Claim&) const = default;
};
using Claims = std::map<Split, Claim>;

// One compare-and-set of the ledger: only a row that still says (generation, from) is moved to `to`.
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
  streaming,  // as fast as the sink can; a bad row may be noticed only at commit(), and not which one
  isolating,  // every row is on the server, or thrown as BadRecord with its origin, when write() returns
};

// One per task, used by that task's thread only. Life: take_over, { write*, commit | abort }*, release.
// Errors: retryable, in_doubt, bad_record, fenced, fatal. After any but a BadRecord thrown by write() in isolating mode
// the writer is good for nothing but its destructor, which rolls an open epoch back.
class SinkWriter {
 public:
  virtual ~SinkWriter() = default;

  // The ledger's positions of those of the splits that it knows. Changes nothing.
  virtual Positions known(const std::vector<Split>& splits) = 0;

  // Raises the generation of each split and returns where it goes on: the ledger's position, or for a split that the
  // ledger does not know the one given here, which is then in the ledger. Waits for a commit of the old owner that is
  // in flight, and ends the sessions of an owner that did not release the split. No epoch may be open.
  // `held` are claims that this process still believes in: a split whose generation another process has grown since
  // throws fenced. One that grew by this process's own last try, whose answer was lost, is taken over again.
  virtual Claims take_over(const Positions& starts, const Claims& held) = 0;

  // Adds rows to the open epoch; the first call opens it. Keeps nothing of the batch.
  virtual void write(const std::string& topic, const Batch& batch, WriteMode mode) = 0;

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
