#include "core/runtime/progress.h"

#include <algorithm>

namespace sluice {

void TaskProgress::set_positions(const Positions& ledger, const Positions& ends) {
  std::optional<std::int64_t> lag = 0;
  for (const auto& [split, position] : ledger) {
    const auto end = ends.find(split);
    lag = lag && end != ends.end() ? std::optional(*lag + std::max<std::int64_t>(0, end->second - position))
                                   : std::nullopt;
  }
  const std::scoped_lock lock(mutex_);
  lag_ = lag;
  splits_ = ledger.size();
}

std::optional<std::int64_t> TaskProgress::lag() const {
  const std::scoped_lock lock(mutex_);
  return lag_;
}

std::size_t TaskProgress::splits() const {
  const std::scoped_lock lock(mutex_);
  return splits_;
}

void Progress::add(const TaskProgress& task) {
  rows += task.rows;
  bytes += task.bytes;
  letters += task.letters;
  epochs += task.epochs;
  restarts += task.restarts;
  last_epoch = std::max<std::uint64_t>(last_epoch, task.last_epoch);
  const auto of_task = task.lag();
  lag = lag && of_task ? std::optional(*lag + *of_task) : std::nullopt;
  splits += task.splits();
  ++tasks;
  if (task.backing_off) ++backing_off;
}

}  // namespace sluice
