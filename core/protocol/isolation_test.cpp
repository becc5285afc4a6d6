#include "core/protocol/isolation.h"

#include <gtest/gtest.h>

namespace sluice {
namespace {

const Split split{"orders", 0};
const Split other{"orders", 1};

TEST(Isolation, EndsWhenTheRefusedEpochPassesWithoutARefusal) {
  Isolation isolation;
  EXPECT_FALSE(isolation.on());
  isolation.start({{split, 10}});
  EXPECT_TRUE(isolation.on());
  isolation.committed({{split, 9}});
  EXPECT_TRUE(isolation.on()) << "a piece of it is still to come";
  isolation.committed({{split, 10}});
  EXPECT_FALSE(isolation.on());
}

TEST(Isolation, GoesOnAsLongAsEachEpochHoldsARefusedRow) {
  Isolation isolation;
  isolation.start({{split, 10}});
  isolation.found();
  isolation.committed({{split, 10}});
  EXPECT_TRUE(isolation.on());
  isolation.found();
  isolation.committed({{split, 20}});
  EXPECT_TRUE(isolation.on());
  isolation.committed({{split, 30}});
  EXPECT_FALSE(isolation.on());
}

TEST(Isolation, RemembersARefusalInAnEarlierPiece) {
  Isolation isolation;
  isolation.start({{split, 10}});
  isolation.found();
  isolation.committed({{split, 5}});
  isolation.committed({{split, 10}});
  EXPECT_TRUE(isolation.on());
}

TEST(Isolation, ForgetsWhatWasRolledBack) {
  Isolation isolation;
  isolation.start({{split, 10}});
  isolation.found();
  isolation.rolled_back();
  isolation.committed({{split, 10}});
  EXPECT_FALSE(isolation.on());
}

TEST(Isolation, LooksAtDeferredRulesOnlyWhenAnIsolatedEpochIsRefusedAtItsCommit) {
  Isolation isolation;
  isolation.start({{split, 10}});
  EXPECT_EQ(isolation.mode(), WriteMode::isolating);
  EXPECT_FALSE(isolation.exhausted());
  isolation.start({{split, 10}});
  EXPECT_EQ(isolation.mode(), WriteMode::strict);
  EXPECT_TRUE(isolation.exhausted());
  isolation.committed({{split, 10}});
  EXPECT_EQ(isolation.mode(), WriteMode::streaming);
}

TEST(Isolation, DoesNotWaitForASplitThatLeft) {
  Isolation isolation;
  isolation.start({{split, 10}, {other, 10}});
  isolation.committed({{split, 10}});
  EXPECT_FALSE(isolation.on());
}

}  // namespace
}  // namespace sluice
