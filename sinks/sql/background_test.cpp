#include "sinks/sql/background.h"

#include <gtest/gtest.h>

#include <future>
#include <stdexcept>
#include <vector>

namespace sluice::sql {
namespace {

TEST(Background, RunsOnePieceAfterTheOther) {
  std::vector<int> order;  // unguarded: the thread sanitizer sees any overlap
  Background background;
  for (int i = 0; i < 100; ++i) background.run([&order, i] { order.push_back(i); });
  background.wait();
  ASSERT_EQ(order.size(), 100U);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(order[static_cast<std::size_t>(i)], i);
}

TEST(Background, TheCallerGoesOnWhileItWorks) {
  std::promise<void> go;
  Background background;
  background.run([&] { go.get_future().wait(); });
  go.set_value();  // only a caller that was let go gets here
  background.wait();
}

TEST(Background, WhatFailedIsToldOnceAndNothingRunsAfterIt) {
  bool ran = false;
  Background background;
  background.run([] { throw std::runtime_error("first"); });
  EXPECT_THROW(background.run([&] { ran = true; }), std::runtime_error);
  background.wait();
  EXPECT_FALSE(ran) << "what came behind a failure must not be sent";
  background.run([] { throw std::runtime_error("second"); });
  EXPECT_THROW(background.wait(), std::runtime_error);
  background.wait();
}

TEST(Background, ItsEndWaitsForTheWorkInHand) {
  bool done = false;
  {
    Background background;
    background.run([&] { done = true; });
  }
  EXPECT_TRUE(done);
}

}  // namespace
}  // namespace sluice::sql
