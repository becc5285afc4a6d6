#include "core/protocol/bad_share.h"

#include <gtest/gtest.h>

namespace sluice {
namespace {

TEST(BadShare, SaysNothingBeforeAThousandRecords) {
  BadShare share(0.1);
  EXPECT_FALSE(share.exceeded(999, 999));
  EXPECT_TRUE(share.exceeded(1000, 1000));
}

TEST(BadShare, ComparesTheShareOfWhatIsRemembered) {
  BadShare share(0.1);
  share.committed(900, 0);
  EXPECT_FALSE(share.exceeded(100, 100)) << "exactly a tenth";
  EXPECT_TRUE(share.exceeded(100, 101));
}

TEST(BadShare, ALongGoodPastDoesNotHideABadPresent) {
  BadShare share(0.5);
  for (int i = 0; i < 1000; ++i) share.committed(100'000, 0);
  EXPECT_FALSE(share.exceeded(1000, 1000));
  bool exceeded = false;
  for (int i = 0; i < 100 && !exceeded; ++i) {
    exceeded = share.exceeded(1000, 1000);
    share.committed(1000, 1000);
  }
  EXPECT_TRUE(exceeded);
}

TEST(BadShare, OneMeansNever) {
  BadShare share(1);
  EXPECT_FALSE(share.exceeded(1'000'000, 1'000'000));
}

}  // namespace
}  // namespace sluice
