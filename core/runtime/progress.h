// What tasks tell the rest of the process about themselves: counters for the status line, the summary and metrics.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>

#include "core/model/ids.h"

namespace sluice {

// Written by one task, read by any thread. Counters count what is committed, never what is only on its way.
class TaskProgress {
 public:
  std::atomic<std::uint64_t> rows{0};
  std::atomic<std::uint64_t> bytes{0};    // of record values
  std::atomic<std::uint64_t> letters{0};  // bad records that were put aside, or passed over where the job says so
  std::atomic<std::uint64_t> epochs{0};
  std::atomic<std::uint64_t> restarts{0};
  std::atomic<std::uint64_t> last_epoch{0};
  std::atomic<bool> backing_off{false};

  void set_positions(const Positions& ledger, const Positions& ends);
  // Records between the ledger and the known ends of the task's splits; nothing while an end is not known.
  std::optional<std::int64_t> lag() const;
  std::size_t splits() const;

 private:
  mutable std::mutex mutex_;
  std::optional<std::int64_t> lag_;
  std::size_t splits_ = 0;
};

struct Progress {
  std::uint64_t rows = 0;
  std::uint64_t bytes = 0;
  std::uint64_t letters = 0;
  std::uint64_t epochs = 0;
  std::uint64_t restarts = 0;
  std::uint64_t last_epoch = 0;
  std::optional<std::int64_t> lag = 0;  // nothing: a task does not know its own
  std::size_t splits = 0;
  std::size_t tasks = 0;
  std::size_t backing_off = 0;

  void add(const TaskProgress& task);
};

}  // namespace sluice
