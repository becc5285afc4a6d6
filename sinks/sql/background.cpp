#include "sinks/sql/background.h"

#include <utility>

namespace sluice::sql {

Background::Background() : thread_([this] { loop(); }) {}

Background::~Background() {
  {
    const std::scoped_lock lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void Background::run(std::function<void()> work) {
  {
    std::unique_lock lock(mutex_);
    wait_locked(lock);
    work_ = std::move(work);
  }
  changed_.notify_all();
}

void Background::wait() {
  std::unique_lock lock(mutex_);
  wait_locked(lock);
}

void Background::wait_locked(std::unique_lock<std::mutex>& lock) {
  changed_.wait(lock, [this] { return !work_; });
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}

void Background::loop() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return stop_ || work_; });
    if (!work_) return;
    lock.unlock();
    std::exception_ptr failure;
    try {
      work_();
    } catch (...) {
      failure = std::current_exception();
    }
    lock.lock();
    work_ = nullptr;
    failure_ = failure;
    changed_.notify_all();
  }
}

}  // namespace sluice::sql
