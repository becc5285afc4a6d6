// One thread that runs one piece of work at a time, so that the caller makes the next rows ready while the server is
// busy with the last ones. For clients whose calls block; a COPY that stays open needs none, its socket is the buffer.
#pragma once

#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>

namespace sluice::sql {

class Background {
 public:
  Background();
  ~Background();  // waits for what was handed over
  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;

  // Waits for the work before it, rethrows what that threw, and hands this over.
  void run(std::function<void()> work);
  // Nothing is running when it returns or throws; throws what the work threw, once.
  void wait();

 private:
  void loop();
  void wait_locked(std::unique_lock<std::mutex>& lock);

  std::mutex mutex_;
  std::condition_variable changed_;
  std::function<void()> work_;
  std::exception_ptr failure_;
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace sluice::sql
