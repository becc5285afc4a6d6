#include "sources/kafka/client_log.h"

#include <gtest/gtest.h>

#include <vector>

namespace sluice::kafka {
namespace {

struct Line {
  LogLevel level;
  std::string message;
  LogFields fields;
};

class ClientLogTest : public ::testing::Test {
 protected:
  std::string field(const Line& line, const std::string& name) const {
    for (const auto& [key, value] : line.fields) {
      if (key == name) return value;
    }
    return {};
  }

  std::vector<Line> lines_;
  ClientLog log_{[this](LogLevel level, std::string_view message, const LogFields& fields) {
                   lines_.push_back({level, std::string{message}, fields});
                 },
                 "sluice-0"};
  const ClientLog::Clock::time_point begin_ = ClientLog::Clock::now();
};

TEST_F(ClientLogTest, LostConnectionIsAWarningThatNamesTheBroker) {
  log_.library_line(3, "FAIL", "[thrd:kafka-1:9092/1]: Connect failed: Connection refused (after 3ms)", begin_);
  ASSERT_EQ(lines_.size(), 1U);
  EXPECT_EQ(lines_[0].level, LogLevel::warning);
  EXPECT_EQ(lines_[0].message, "Connect failed: Connection refused (after 3ms)");
  EXPECT_EQ(field(lines_[0], "broker"), "kafka-1:9092/1");
  EXPECT_EQ(field(lines_[0], "client"), "sluice-0");
}

TEST_F(ClientLogTest, RepeatsAreHeldBackAndCounted) {
  for (int i = 0; i < 100; ++i) {
    log_.library_line(3, "FAIL", "Connection refused (after " + std::to_string(i) + "ms)",
                      begin_ + std::chrono::milliseconds{10 * i});
  }
  EXPECT_EQ(lines_.size(), 1U);
  log_.library_line(3, "FAIL", "Connection refused (after 7ms)", begin_ + std::chrono::seconds{6});
  ASSERT_EQ(lines_.size(), 2U);
  EXPECT_EQ(field(lines_[1], "repeated"), "99");
  log_.library_line(3, "FAIL", "Disconnected", begin_ + std::chrono::seconds{6});
  EXPECT_EQ(lines_.size(), 3U) << "other news is not held back";
}

TEST_F(ClientLogTest, LevelsFollowSyslog) {
  log_.library_line(2, "X", "a", begin_);
  log_.library_line(4, "X", "b", begin_);
  log_.library_line(6, "X", "c", begin_);
  log_.library_line(7, "X", "d", begin_);
  ASSERT_EQ(lines_.size(), 4U);
  EXPECT_EQ(lines_[0].level, LogLevel::error);
  EXPECT_EQ(lines_[1].level, LogLevel::warning);
  EXPECT_EQ(lines_[2].level, LogLevel::info);
  EXPECT_EQ(lines_[3].level, LogLevel::debug);
}

}  // namespace
}  // namespace sluice::kafka
