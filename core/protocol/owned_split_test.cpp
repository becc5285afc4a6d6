// Which records of one split belong to the open epoch.
#include <gtest/gtest.h>

#include "core/protocol/epoch_machine.h"

namespace sluice {

namespace {

Claim claim(std::int64_t position) {
  return {position, Generation{1}, Epoch{}};
}

TEST(OwnedSplit, DropsRecordsBelowThePosition) {  // F59: a client reads old records again
  OwnedSplit split(claim(10));
  EXPECT_FALSE(split.accept(0));
  EXPECT_FALSE(split.accept(9));
  EXPECT_FALSE(split.moved());
  EXPECT_TRUE(split.accept(10));
  EXPECT_FALSE(split.accept(10)) << "the same record twice";
  EXPECT_EQ(split.next(), 11);
}

TEST(OwnedSplit, SkipsHoles) {
  OwnedSplit split(claim(10));
  EXPECT_TRUE(split.accept(15));
  EXPECT_EQ(split.next(), 16);
  EXPECT_FALSE(split.accept(12)) << "a record inside of what was taken for a hole is out of order";
  EXPECT_EQ(split.next(), 16);
}

TEST(OwnedSplit, ReachMovesForwardOnly) {
  OwnedSplit split(claim(10));
  split.reach(20);
  EXPECT_EQ(split.next(), 20);
  EXPECT_TRUE(split.moved());
  split.reach(5);
  EXPECT_EQ(split.next(), 20);
  EXPECT_FALSE(split.accept(19));
  EXPECT_TRUE(split.accept(20));
}

TEST(OwnedSplit, StopsExactlyAtTheBound) {
  OwnedSplit split(claim(10));
  split.bound(12);
  EXPECT_TRUE(split.accept(10));
  EXPECT_FALSE(split.at_bound());
  EXPECT_TRUE(split.accept(11));
  EXPECT_TRUE(split.at_bound());
  EXPECT_FALSE(split.accept(12));
  EXPECT_EQ(split.next(), 12);
}

TEST(OwnedSplit, ARecordBehindTheBoundProvesThatTheRestBeforeItIsHoles) {
  OwnedSplit split(claim(10));
  split.bound(20);
  EXPECT_TRUE(split.accept(13));
  EXPECT_FALSE(split.accept(25));
  EXPECT_EQ(split.next(), 20) << "not 14: the run would wait for ever; not 26: records behind the bound would be lost";
  EXPECT_TRUE(split.at_bound());
}

TEST(OwnedSplit, ReachStopsAtTheBound) {
  OwnedSplit split(claim(10));
  split.bound(20);
  split.reach(30);
  EXPECT_EQ(split.next(), 20);
}

TEST(OwnedSplit, ABoundBelowThePositionConsumesNothing) {
  OwnedSplit split(claim(10));
  split.bound(0);
  EXPECT_TRUE(split.at_bound());
  EXPECT_FALSE(split.accept(10));
  split.reach(30);
  EXPECT_EQ(split.next(), 10);
  EXPECT_FALSE(split.moved());
}

}  // namespace

}  // namespace sluice
