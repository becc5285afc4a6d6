// When a failed task may start again. Pure: times come in as arguments.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <optional>

namespace sluice {

struct RestartSettings {
  enum class Strategy { none, fixed_delay, exponential_delay, failure_rate };
  Strategy strategy = Strategy::exponential_delay;
  std::chrono::milliseconds initial{500};  // the first delay; the only one of fixed_delay and failure_rate
  std::chrono::milliseconds delay_max{30'000};
  std::uint64_t tolerated = 0;                 // failures in a row that come before the strategy's first
  std::optional<std::uint64_t> attempts;       // in a row, without a committed epoch between them; nothing: unlimited
  std::uint64_t failures_max = 1;              // failure_rate: more than this many ...
  std::chrono::milliseconds interval{60'000};  // ... within this time is the end
};

class RestartPolicy {
 public:
  using Time = std::chrono::steady_clock::time_point;

  explicit RestartPolicy(const RestartSettings& settings) : settings_(settings) {}

  // The delay before the next attempt; nothing: the budget is spent.
  std::optional<std::chrono::milliseconds> failed(Time now);
  // An epoch was committed: the next failure starts from the first delay again.
  void succeeded() { in_a_row_ = 0; }

  std::uint64_t failures_in_a_row() const { return in_a_row_; }

 private:
  RestartSettings settings_;
  std::uint64_t in_a_row_ = 0;
  std::deque<Time> recent_;
};

}  // namespace sluice
