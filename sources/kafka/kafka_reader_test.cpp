#include <gtest/gtest.h>

#include <algorithm>
#include <mutex>

#include "core/model/error.h"
#include "sources/kafka/reader_fixture.h"

namespace sluice::kafka {
namespace {

TEST_F(KafkaReaderTest, ReadsEverySplitInOrderWithAllOfTheRecord) {
  produce("orders", 0, 300);
  produce("orders", 1, 200);
  Driver driver{config({"orders"}), 0};
  ASSERT_TRUE(driver.read(500));
  EXPECT_EQ(driver.offsets[first_], range(0, 300));
  EXPECT_EQ(driver.offsets[second_], range(0, 200));
}

TEST_F(KafkaReaderTest, RecordCarriesKeyHeadersTimestampAndTombstones) {
  produce("orders", 0, 1);
  kafka_.send("orders", 0, "gone", std::nullopt);
  kafka_.flush();
  KafkaSource source{config({"orders"})};
  const auto reader = source.open_reader(0);
  std::size_t seen = 0;
  const auto deadline = Clock::now() + patience;
  while (seen < 2 && Clock::now() < deadline) {
    const SourceEvent event = reader->poll(10, milliseconds{50});
    if (const auto* given = std::get_if<Assigned>(&event)) reader->start(reader->start_positions(given->splits));
    const auto* came = std::get_if<Records>(&event);
    if (came == nullptr) continue;
    for (const Record& record : came->records) {
      ASSERT_EQ(record.headers.size(), 1U);
      EXPECT_EQ(record.headers[0].name, "h");
      EXPECT_EQ(record.headers[0].value, "x");
      EXPECT_GT(record.timestamp_ms, 1'600'000'000'000);
      EXPECT_EQ(record.key, record.offset == 0 ? "k0" : "gone");
      EXPECT_EQ(record.value.has_value(), record.offset == 0);
      ++seen;
    }
  }
  EXPECT_EQ(seen, 2U);
}

TEST_F(KafkaReaderTest, BringsNothingBeforeStartAndNoMoreThanAskedFor) {
  produce("orders", 0, 100);
  Driver driver{config({"orders"}), 0};
  driver.start_at_once = false;
  ASSERT_TRUE(driver.poll_until([&] { return driver.owned.size() == 2; }));
  for (int i = 0; i < 20; ++i) driver.step(milliseconds{10});
  EXPECT_EQ(driver.records, 0U);
  driver.reader().start({{first_, 0}, {second_, 0}});
  std::size_t seen = 0;
  const auto deadline = Clock::now() + patience;
  while (seen < 100 && Clock::now() < deadline) {
    const SourceEvent event = driver.reader().poll(7, milliseconds{50});
    if (const auto* came = std::get_if<Records>(&event)) {
      EXPECT_LE(came->records.size(), 7U);
      seen += came->records.size();
    }
  }
  EXPECT_EQ(seen, 100U);
}

TEST_F(KafkaReaderTest, StartAgainReadsFromThereOnAndLosesNothing) {
  produce("orders", 0, 1000);
  Driver driver{config({"orders"}), 0};
  ASSERT_TRUE(driver.read(700));
  driver.offsets.clear();
  driver.records = 0;
  driver.reader().start({{first_, 100}, {second_, 0}});
  ASSERT_TRUE(driver.read(900));
  EXPECT_EQ(driver.offsets[first_], range(100, 1000));

  // Forward too, past what was read ahead.
  driver.offsets.clear();
  driver.records = 0;
  driver.reader().start({{first_, 990}});
  ASSERT_TRUE(driver.read(10));
  EXPECT_EQ(driver.offsets[first_], range(990, 1000));
}

TEST_F(KafkaReaderTest, NeverDeliversARecordBelowTheExpectedPosition_F59) {
  // The broker sends whole batches, so a start in the middle of one brings older records along.
  produce("orders", 0, 500);
  Driver driver{config({"orders"}), 0};
  driver.ledger[first_] = 123;
  ASSERT_TRUE(driver.read(377));
  for (int round = 0; round < 5; ++round) {
    driver.reader().pause();
    driver.step(milliseconds{5});
    driver.reader().start({{first_, driver.ledger[first_]}});
    produce("orders", 0, 10, 500 + 10 * round);
    ASSERT_TRUE(driver.read(377 + 10 * static_cast<std::size_t>(round + 1)));
  }
  EXPECT_EQ(driver.offsets[first_], range(123, 550));
}

TEST_F(KafkaReaderTest, PauseBringsNothingAndStartGoesOn) {
  produce("orders", 0, 100);
  Driver driver{config({"orders"}), 0};
  ASSERT_TRUE(driver.read(100));
  driver.reader().pause();
  produce("orders", 0, 100, 100);
  for (int i = 0; i < 30; ++i) driver.step(milliseconds{10});
  EXPECT_EQ(driver.records, 100U);
  driver.reader().start({{first_, 100}, {second_, 0}});
  ASSERT_TRUE(driver.read(200));
  EXPECT_EQ(driver.offsets[first_], range(0, 200));
}

// A start must not lose a race with what librdkafka's own thread does for it: no split may stand still.
TEST_F(KafkaReaderTest, EverySplitGoesOnHoweverOftenItWasPaused) {
  produce("orders", 0, 5);
  produce("orders", 1, 5);
  Driver driver{config({"orders"}), 0};
  ASSERT_TRUE(driver.read(10));
  for (int round = 0; round < 100; ++round) {
    driver.reader().pause();
    driver.records = 0;
    driver.reader().start({{first_, 0}, {second_, 0}});
    ASSERT_TRUE(driver.read(10)) << "a split stood still in round " << round;
  }
}

TEST_F(KafkaReaderTest, CaughtUpExactlyAtTheEnd) {
  produce("orders", 0, 50);
  Driver driver{config({"orders"}), 0};
  ASSERT_TRUE(driver.read(20));
  ASSERT_TRUE(driver.poll_until([&] { return driver.reader().caught_up(); }));
  EXPECT_EQ(driver.records, 50U);
  EXPECT_EQ(driver.reader().known_ends(), (Positions{{first_, 50}, {second_, 0}}));

  driver.reader().start({{first_, 0}});
  EXPECT_FALSE(driver.reader().caught_up());
  ASSERT_TRUE(driver.read(100));
  ASSERT_TRUE(driver.poll_until([&] { return driver.reader().caught_up(); }));
}

TEST_F(KafkaReaderTest, ToldOfAPositionBehindTheEndOnceAndGoesOnWhereItIsStarted_F62) {
  produce("orders", 0, 50);
  Driver driver{config({"orders"}), 0};
  driver.ledger[first_] = 80;
  ASSERT_TRUE(driver.poll_until([&] { return driver.lost.has_value(); })) << "it went unnoticed";
  EXPECT_EQ(driver.lost->position, 80);
  EXPECT_EQ(driver.lost->begin, 0);
  EXPECT_EQ(driver.lost->end, 50);
  // F56: a plain seek fails from here on, a start does not.
  driver.reader().start({{first_, 40}});
  ASSERT_TRUE(driver.read(10));
  EXPECT_EQ(driver.offsets[first_], range(40, 50));
}

TEST_F(KafkaReaderTest, PositionThatRetentionTookStopsAndNamesTheLoss_F56) {
  // The mock keeps 5 MB of a partition.
  const std::string large(100'000, 'x');
  for (int i = 0; i < 100; ++i) {
    kafka_.send("orders", 0, "k", large);
    kafka_.flush();
  }
  KafkaSource source{config({"orders"})};
  const auto begin = source.begin_positions().at(first_);
  ASSERT_GT(begin, 0);
  Driver driver{config({"orders"}), 0};
  driver.ledger[first_] = 0;
  driver.poll_until([&] { return driver.lost.has_value(); });
  EXPECT_EQ(driver.lost->position, 0);
  EXPECT_EQ(driver.lost->begin, begin);
  EXPECT_GT(driver.lost->end, begin);
  EXPECT_EQ(driver.records, 0U);
}

TEST_F(KafkaReaderTest, GoesOnWhenTheBrokerComesBack_F54) {
  produce("orders", 0, 100);
  std::mutex mutex;
  std::vector<std::string> lines;
  KafkaConfig settings = config({"orders"});
  settings.properties["reconnect.backoff.max.ms"] = "200";
  settings.log = [&](LogLevel, std::string_view message, const LogFields&) {
    const std::lock_guard lock{mutex};
    lines.emplace_back(message);
  };
  Driver driver{settings, 0};
  ASSERT_TRUE(driver.read(100));
  kafka_.set_down(1);
  const auto heard = [&] {
    const std::lock_guard lock{mutex};
    return std::any_of(lines.begin(), lines.end(),
                       [](const std::string& line) { return line.find("Connection refused") != std::string::npos; });
  };
  ASSERT_TRUE(driver.poll_until(heard));
  kafka_.set_up(1);
  produce("orders", 0, 100, 100);
  ASSERT_TRUE(driver.read(200));
  EXPECT_EQ(driver.offsets[first_], range(0, 200));
}

}  // namespace
}  // namespace sluice::kafka
