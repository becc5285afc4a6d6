#include "core/protocol/restart_policy.h"

#include <algorithm>

namespace sluice {

std::optional<std::chrono::milliseconds> RestartPolicy::failed(Time now) {
  if (++in_a_row_ <= settings_.tolerated) return settings_.initial;
  const std::uint64_t counted = in_a_row_ - settings_.tolerated;
  switch (settings_.strategy) {
    case RestartSettings::Strategy::none:
      return std::nullopt;
    case RestartSettings::Strategy::failure_rate:
      recent_.push_back(now);
      while (now - recent_.front() > settings_.interval) recent_.pop_front();
      if (recent_.size() > settings_.failures_max) return std::nullopt;
      return settings_.initial;
    case RestartSettings::Strategy::fixed_delay:
    case RestartSettings::Strategy::exponential_delay:
      break;
  }
  if (settings_.attempts && counted > *settings_.attempts) return std::nullopt;
  if (settings_.strategy == RestartSettings::Strategy::fixed_delay) return settings_.initial;
  const auto doublings = std::min<std::uint64_t>(counted - 1, 20);
  return std::min(settings_.delay_max, settings_.initial * (std::int64_t{1} << doublings));
}

}  // namespace sluice
