#include "sinks/sql/call_watch.h"

#include <gtest/gtest.h>

namespace sluice::sql {
namespace {

using std::chrono::milliseconds;

// What a client that waits for its server looks like: it comes back when it is interrupted.
class Waiting {
 public:
  bool wait(milliseconds at_most) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, at_most, [this] { return interrupted_; });
  }
  void interrupt() {
    {
      const std::scoped_lock lock(mutex_);
      interrupted_ = true;
    }
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool interrupted_ = false;
};

TEST(CallWatch, TellsAndThenGivesUp) {
  Waiting client;
  std::atomic<int> notices{0};
  CallWatch watch(
      {milliseconds(20), milliseconds(200)}, [&](milliseconds) { ++notices; }, [&] { client.interrupt(); });
  const CallWatch::Call call(watch);
  EXPECT_TRUE(client.wait(milliseconds(30'000))) << "nobody interrupted the call";
  EXPECT_TRUE(watch.gave_up());
  EXPECT_GE(notices, 1);
}

TEST(CallWatch, AddsNothingUpOverCallsThatEndOrAreTouched) {
  Waiting client;
  CallWatch watch(
      {milliseconds(10'000), milliseconds(2'000)}, [](milliseconds) {}, [&] { client.interrupt(); });
  for (int i = 0; i < 15; ++i) {
    const CallWatch::Call call(watch);
    EXPECT_FALSE(client.wait(milliseconds(100)));
  }
  const CallWatch::Call call(watch);
  for (int i = 0; i < 15; ++i) {
    watch.touch();
    EXPECT_FALSE(client.wait(milliseconds(100)));
  }
  EXPECT_FALSE(watch.gave_up());
}

TEST(CallWatch, ACallWithinACallLeavesTheOuterOneWatched) {
  Waiting client;
  CallWatch watch(
      {milliseconds(10'000), milliseconds(200)}, [](milliseconds) {}, [&] { client.interrupt(); });
  const CallWatch::Call outer(watch);
  { const CallWatch::Call inner(watch); }
  EXPECT_TRUE(client.wait(milliseconds(30'000))) << "nobody interrupted the outer call";
}

}  // namespace
}  // namespace sluice::sql
