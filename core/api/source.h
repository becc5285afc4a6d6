// What a source offers: splits that are read in order, from any position, as often as needed.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <variant>
#include <vector>

#include "core/api/finding.h"
#include "core/model/error.h"
#include "core/model/ids.h"

namespace sluice {

struct Header {
  std::string_view name;
  std::string_view value;
};

// One message as it came. Views live until the reader's next poll().
struct Record {
  SplitIndex split = 0;
  std::int64_t offset = 0;
  std::int64_t timestamp_ms = -1;  // -1: none
  std::optional<std::string_view> key;
  std::optional<std::string_view> value;  // nothing: a tombstone
  std::span<const Header> headers;
};

// What poll() brings.
struct Idle {};  // nothing came within the wait
struct Records {
  std::span<const Record> records;  // a split's offsets grow; they may skip (compaction, transaction markers)
};
// The split's next offset is `offset` although no record says so: everything before it is a hole.
struct Reached {
  SplitIndex split = 0;
  std::int64_t offset = 0;
};
// The log does not hold the split's position: its first records up to `begin` were deleted, or it ends at `end`, before
// the position. The split brings nothing until start() has named another one.
struct Lost {
  SplitIndex split = 0;
  std::int64_t position = 0;
  std::int64_t begin = 0;
  std::int64_t end = 0;
};
// The splits are this reader's from now on. They bring nothing until start() has named their positions.
struct Assigned {
  std::vector<Split> splits;
};
// The splits leave. Answer with release(), at once; before that the epoch that holds their records is finished, or,
// when `lost`, given up: another process may own them already.
struct Revoked {
  std::vector<Split> splits;
  bool lost = false;
};
using SourceEvent = std::variant<Idle, Records, Reached, Lost, Assigned, Revoked>;

// The names behind the short numbers that records carry.
class SplitNames {
 public:
  virtual ~SplitNames() = default;
  // Valid as long as the object.
  virtual const Split& split(SplitIndex index) const = 0;
};

// One per task, used by that task's thread only. Errors: Error(retryable | fenced | fatal).
class SourceReader : public SplitNames {
 public:
  // At most `records_max` records; waits no longer than `wait_max` for the first one.
  virtual SourceEvent poll(std::size_t records_max, std::chrono::milliseconds wait_max) = 0;

  // Where a split begins that the sink does not know, by the job's start mode.
  virtual Positions start_positions(const std::vector<Split>& splits) = 0;

  // What committed() has told the group at any time, by whatever process; nothing for splits that it knows nothing of.
  // A witness against a ledger that was lost, never a position to go on from.
  virtual Positions group_positions(const std::vector<Split>&) { return {}; }

  // Of these splits' topics, where the source has such ids.
  virtual TopicIds topic_ids(const std::vector<Split>&) { return {}; }

  // Whether these assigned splits still are this reader's, by the word of whoever deals them out, who may hear these
  // positions of the ledger on the way. A process that slept since poll() cannot know by itself. True where nobody
  // says; after false the reader may be broken().
  virtual bool still_assigned(const Positions&) { return true; }

  // Reads these assigned splits from these positions on, whatever was read of them before: the answer to Assigned,
  // and the seek of a restart. Records that were read ahead are dropped.
  virtual void start(const Positions& from) = 0;

  // Hands back the splits of Revoked.
  virtual void release(const std::vector<Split>& splits) = 0;

  // Until the next start() poll() brings no records, but keeps the reader's place in its group alive.
  virtual void pause() = 0;

  // True when every started split has been read to its end as far as the reader knows, without asking anybody.
  virtual bool caught_up() const = 0;

  // End offsets of the started splits as far as known, for the lag. Absent where nothing is known yet.
  virtual Positions known_ends() const = 0;

  // The sink holds everything before these positions. Advisory: for lag tools, never read back while the sink knows
  // better.
  virtual void committed(const Positions& positions) noexcept = 0;

  // The same, but durable with the source on return, and what the next process goes on from: for jobs whose positions
  // the sink does not keep. Throws retryable or fatal.
  virtual void commit_now(const Positions&) {
    throw Error(Fault::fatal, "this source keeps no positions: write \"delivery.guarantee\": \"exactly-once\"");
  }

  // After an Error: this reader is good for nothing but close(), a new one must be opened.
  virtual bool broken() const { return false; }

  // Orderly end: waits until advisory positions are out, then leaves. No other call may follow.
  virtual void close() noexcept = 0;
};

class Source {
 public:
  virtual ~Source() = default;

  // Connects nothing yet that other readers would wait for. `task` counts from 0 within the process.
  virtual std::unique_ptr<SourceReader> open_reader(std::size_t task) = 0;

  // End of every split that the job reads, now. A bounded run stops there.
  virtual Positions end_positions() = 0;
  // First offset of every split that still exists, now.
  virtual Positions begin_positions() = 0;

  // Of the topics that the job reads, where the source has such ids.
  virtual TopicIds topic_ids() { return {}; }

  // What its readers have been told was committed, in whatever process; absent: nothing yet.
  virtual Positions committed_positions() const { return {}; }

  // For `check`: what is worth knowing before the job runs. Changes nothing.
  virtual Findings inspect() { return {}; }
};

}  // namespace sluice
