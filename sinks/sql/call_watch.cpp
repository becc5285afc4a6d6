#include "sinks/sql/call_watch.h"

#include <algorithm>
#include <utility>

namespace sluice::sql {

namespace {
// Often enough for limits of seconds, and rare enough to cost nothing.
constexpr std::chrono::milliseconds longest_nap{1000};
}  // namespace

CallWatch::CallWatch(const CallLimits& limits, std::function<void(Duration)> notice, std::function<void()> give_up)
    : limits_(limits), notice_(std::move(notice)), give_up_(std::move(give_up)), thread_([this] { loop(); }) {}

CallWatch::~CallWatch() {
  {
    const std::scoped_lock lock(mutex_);
    stop_ = true;
  }
  stopped_.notify_all();
  thread_.join();
}

void CallWatch::loop() {
  const auto nap = std::min({longest_nap, limits_.notice, limits_.limit});
  std::unique_lock lock(mutex_);
  while (!stopped_.wait_for(lock, nap, [this] { return stop_; })) {
    lock.unlock();
    look();
    lock.lock();
  }
}

void CallWatch::look() {
  const Clock::rep started = started_;
  if (started == 0) return;
  const auto now = Clock::now();
  const auto waited = std::chrono::duration_cast<Duration>(now - Clock::time_point(Clock::duration(started)));
  if (waited >= limits_.limit) {
    gave_up_ = true;
    return give_up_();
  }
  if (waited < limits_.notice || (noticed_ == started && now - noticed_at_ < limits_.notice)) return;
  noticed_ = started;
  noticed_at_ = now;
  notice_(waited);
}

}  // namespace sluice::sql
