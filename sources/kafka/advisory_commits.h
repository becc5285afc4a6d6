// The group's committed offsets: for lag tools only, so they may be late, but they never cost the job anything.
#pragma once

#include <chrono>

#include "core/model/ids.h"
#include "sources/kafka/handles.h"

namespace sluice::kafka {

// Used by the reader's thread only.
class AdvisoryCommits {
 public:
  using Clock = std::chrono::steady_clock;

  // `client` is borrowed.
  explicit AdvisoryCommits(rd_kafka_t* client) : client_(client) {}

  // The latest position of a split; replaces what was not sent yet.
  void note(const Split& split, std::int64_t position) { waiting_[split] = position; }

  // Sends what waits, unless the last time was a moment ago: epochs of milliseconds must not flood the coordinator.
  void send_if_due(Clock::time_point now);
  void send(Clock::time_point now);
  // Sends these and waits for the broker's word. Throws retryable or fatal.
  void commit_now(const Positions& positions, std::chrono::milliseconds wait_max);
  // The same, and whether the group takes them from this member. True where it does not say.
  bool accepted(const Positions& positions, std::chrono::milliseconds wait_max);
  // Sends what waits and waits for the answer.
  void finish(std::chrono::milliseconds wait_max);

 private:
  rd_kafka_t* client_;
  Positions waiting_;
  Clock::time_point sent_at_{};
};

}  // namespace sluice::kafka
