// Looks at the clock while the database does not answer: the thread that waits for it cannot. A server that hangs
// without closing the connection would else keep the task from polling until its group takes the splits away.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace sluice::sql {

struct CallLimits {
  std::chrono::milliseconds notice{10'000};  // a call that takes longer is told of, again and again
  std::chrono::milliseconds limit{150'000};  // and one that takes longer than this is given up
};

class CallWatch {
  using Clock = std::chrono::steady_clock;

 public:
  using Duration = std::chrono::milliseconds;

  // Both are called on the watch's own thread while a call lasts; `give_up` must make it return.
  CallWatch(const CallLimits& limits, std::function<void(Duration waited)> notice, std::function<void()> give_up);
  ~CallWatch();
  CallWatch(const CallWatch&) = delete;
  CallWatch& operator=(const CallWatch&) = delete;

  // A call lasts as long as this object.
  class Call {
   public:
    explicit Call(CallWatch& watch) : watch_(watch), outer_(watch.started_) { watch_.start(); }
    ~Call() { watch_.started_ = outer_; }
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;

   private:
    CallWatch& watch_;
    Clock::rep outer_;  // a call within a call
  };

  // The server has answered, and the call goes on.
  void touch() {
    if (started_ != 0) start();
  }

  // Whether any call was given up.
  bool gave_up() const { return gave_up_; }
  Duration limit() const { return limits_.limit; }

 private:
  void start() { started_ = Clock::now().time_since_epoch().count(); }
  void loop();
  void look();

  CallLimits limits_;
  std::function<void(Duration)> notice_;
  std::function<void()> give_up_;
  std::atomic<Clock::rep> started_{0};  // 0: no call lasts
  std::atomic<bool> gave_up_{false};
  Clock::rep noticed_ = 0;  // start of the call that was told of, and when
  Clock::time_point noticed_at_;
  std::mutex mutex_;
  std::condition_variable stopped_;
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace sluice::sql
