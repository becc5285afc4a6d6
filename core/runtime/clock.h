// Time as the runtime sees it, so that a simulation can make it pass.
#pragma once

#include <chrono>

namespace sluice {

class Clock {
 public:
  using Time = std::chrono::steady_clock::time_point;

  virtual ~Clock() = default;
  virtual Time now() const = 0;
};

class SystemClock final : public Clock {
 public:
  Time now() const override { return std::chrono::steady_clock::now(); }
};

}  // namespace sluice
