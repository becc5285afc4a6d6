// Time that passes when the test says so.
#pragma once

#include <atomic>
#include <chrono>

#include "core/runtime/clock.h"

namespace sluice::testing {

// now() may be called from any thread while advance() is.
class ManualClock final : public Clock {
 public:
  Time now() const override { return Time(std::chrono::milliseconds(now_ms_.load())); }
  void advance(std::chrono::milliseconds by) { now_ms_ += by.count(); }

 private:
  // Not 0: what was never set must not look like now.
  std::atomic<std::int64_t> now_ms_{1'000'000};
};

}  // namespace sluice::testing
