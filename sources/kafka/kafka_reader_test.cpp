#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <mutex>
#include <set>

#include "core/model/error.h"
#include "sources/kafka/kafka_source.h"
#include "sources/kafka/mock_kafka.h"

namespace sluice::kafka {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds patience{20};  // a bound for what must happen; nothing waits this long when all is well

// Plays the runtime: starts what is assigned at the positions that its "ledger" holds, and remembers what came.
class Driver {
 public:
  Driver(const KafkaConfig& config, std::size_t task) : source_(config), reader_(source_.open_reader(task)) {}

  // Polls until `done`; false when that takes too long.
  bool poll_until(const std::function<bool()>& done) {
    const auto deadline = Clock::now() + patience;
    while (!done()) {
      if (Clock::now() > deadline) return false;
      step(milliseconds{20});
    }
    return true;
  }
  bool read(std::size_t count) {
    return poll_until([&] { return records >= count; });
  }

  void step(milliseconds wait_max) {
    const SourceEvent event = reader_->poll(1000, wait_max);
    if (const auto* came = std::get_if<Records>(&event)) take(*came);
    if (const auto* given = std::get_if<Assigned>(&event)) take(*given);
    if (const auto* taken = std::get_if<Revoked>(&event)) take(*taken);
  }

  SourceReader& reader() { return *reader_; }

  Positions ledger;  // where a split goes on; what it lacks begins by the start mode
  std::set<Split> owned;
  std::map<Split, std::vector<std::int64_t>> offsets;
  std::vector<std::string> values;
  std::size_t records = 0;
  std::size_t revocations = 0;
  std::vector<Split> revoked;  // last
  bool release_at_once = true;
  bool start_at_once = true;

 private:
  void take(const Records& came) {
    for (const Record& record : came.records) {
      const Split& split = reader_->split(record.split);
      EXPECT_TRUE(owned.contains(split)) << to_string(split);
      offsets[split].push_back(record.offset);
      values.emplace_back(record.value.value_or("(none)"));
      ledger[split] = record.offset + 1;
      ++records;
    }
  }
  void take(const Assigned& given) {
    owned.insert(given.splits.begin(), given.splits.end());
    if (!start_at_once) return;
    Positions from = reader_->start_positions(given.splits);
    for (auto& [split, position] : from) {
      if (const auto known = ledger.find(split); known != ledger.end()) position = known->second;
    }
    reader_->start(from);
  }
  void take(const Revoked& taken) {
    ++revocations;
    revoked = taken.splits;
    if (!release_at_once) return;
    for (const Split& split : taken.splits) owned.erase(split);
    reader_->release(taken.splits);
  }

  KafkaSource source_;
  std::unique_ptr<SourceReader> reader_;
};

std::vector<std::int64_t> range(std::int64_t from, std::int64_t to) {
  std::vector<std::int64_t> numbers;
  for (auto i = from; i < to; ++i) numbers.push_back(i);
  return numbers;
}

class KafkaReaderTest : public ::testing::Test {
 protected:
  void SetUp() override { kafka_.create_topic("orders", 2); }

  // Values are "<topic>-<partition>-<i>", keys "k<i>", for i from `first` on.
  void produce(const std::string& topic, int partition, int count, int first = 0) {
    for (int i = first; i < first + count; ++i) {
      const std::string number = std::to_string(i);
      kafka_.send(topic, partition, "k" + number, topic + "-" + std::to_string(partition) + "-" + number);
    }
    kafka_.flush();
  }

  KafkaConfig config(std::vector<std::string> topics) const {
    KafkaConfig made;
    made.bootstrap_servers = kafka_.bootstrap_servers();
    made.topics = std::move(topics);
    made.group_id = "sluice-test";
    // Members notice a change with the next heartbeat, and the mock waits for them until a second before the timeout.
    made.properties = {{"heartbeat.interval.ms", "100"}, {"session.timeout.ms", "2000"}};
    return made;
  }

  Positions committed(const std::vector<Split>& splits) {
    KafkaConfig start = config({"orders"});
    start.start_mode = StartMode::group_offsets;
    KafkaSource source{start};
    const auto reader = source.open_reader(7);
    return reader->start_positions(splits);
  }

  MockKafka kafka_;
  const Split first_{"orders", 0};
  const Split second_{"orders", 1};
};

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

TEST_F(KafkaReaderTest, SecondReaderTakesSplitsOverOnlyAfterRelease) {
  produce("orders", 0, 100);
  produce("orders", 1, 100);
  Driver old{config({"orders"}), 0};
  ASSERT_TRUE(old.read(200));
  ASSERT_EQ(old.owned.size(), 2U);
  old.release_at_once = false;

  Driver fresh{config({"orders"}), 1};
  fresh.ledger = old.ledger;
  ASSERT_TRUE(old.poll_until([&] {
    fresh.step(milliseconds{5});
    return old.revocations == 1;
  }));
  // The revoked split is still the old reader's, and it may still seek.
  old.reader().start({{first_, 90}, {second_, 90}});
  for (int i = 0; i < 20; ++i) {
    old.step(milliseconds{5});
    fresh.step(milliseconds{5});
  }
  EXPECT_TRUE(fresh.owned.empty());
  EXPECT_EQ(old.records, 200U) << "a start during a revocation waits for its release";

  ASSERT_EQ(old.revoked.size(), 1U);
  const Split leaving = old.revoked.front();
  old.owned.erase(leaving);
  old.release_at_once = true;
  old.offsets.clear();
  old.reader().release({leaving});
  ASSERT_TRUE(fresh.poll_until([&] {
    old.step(milliseconds{5});
    return fresh.owned.size() == 1 && old.records == 210;
  }));
  EXPECT_TRUE(fresh.owned.contains(leaving));
  const Split staying = leaving == first_ ? second_ : first_;
  EXPECT_EQ(old.offsets[staying], range(90, 100));

  produce("orders", 0, 10, 100);
  produce("orders", 1, 10, 100);
  ASSERT_TRUE(fresh.poll_until([&] {
    old.step(milliseconds{5});
    return fresh.records == 10 && old.records == 220;
  }));
  EXPECT_EQ(fresh.offsets[leaving], range(100, 110));
  EXPECT_EQ(old.offsets[staying], range(90, 110));
}

TEST_F(KafkaReaderTest, CloseHandsSplitsToTheOtherReader) {
  produce("orders", 0, 10);
  produce("orders", 1, 10);
  Driver stays{config({"orders"}), 0};
  {
    Driver leaves{config({"orders"}), 1};
    ASSERT_TRUE(stays.poll_until([&] {
      leaves.step(milliseconds{5});
      return stays.owned.size() == 1 && leaves.owned.size() == 1;
    }));
    leaves.reader().close();
  }
  ASSERT_TRUE(stays.poll_until([&] { return stays.owned.size() == 2; }));
  ASSERT_TRUE(
      stays.poll_until([&] { return stays.offsets[first_].size() >= 10 && stays.offsets[second_].size() >= 10; }));
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

TEST_F(KafkaReaderTest, CommittedPositionsOfOwnedSplitsReachTheGroup_F33) {
  produce("orders", 0, 50);
  Driver driver{config({"orders"}), 0};
  ASSERT_TRUE(driver.read(50));
  driver.reader().committed({{first_, 17}, {{"payments", 0}, 5}});
  driver.reader().committed({{first_, 42}});  // within the interval: sent at the latest by close()
  driver.reader().close();
  EXPECT_EQ(committed({first_, second_}), (Positions{{first_, 42}, {second_, 0}}));
}

TEST_F(KafkaReaderTest, NothingIsCommittedUnasked_F45) {
  produce("orders", 0, 50);
  Driver driver{config({"orders"}), 0};
  ASSERT_TRUE(driver.read(50));
  driver.reader().close();
  EXPECT_EQ(committed({first_}), (Positions{{first_, 0}}));
}

TEST_F(KafkaReaderTest, ReleaseSendsThePositionsOfTheSplitsThatLeave) {
  produce("orders", 0, 50);
  Driver driver{config({"orders"}), 0};
  ASSERT_TRUE(driver.read(50));
  driver.reader().committed({{first_, 10}});
  driver.reader().committed({{first_, 30}});
  driver.reader().release({first_, second_});
  driver.reader().committed({{first_, 50}});  // not owned any more
  driver.reader().close();
  EXPECT_EQ(committed({first_}), (Positions{{first_, 30}}));
}

TEST_F(KafkaReaderTest, PositionOutsideTheLogStopsAndNamesTheRange_F32) {
  produce("orders", 0, 50);
  Driver driver{config({"orders"}), 0};
  driver.ledger[first_] = 80;
  try {
    driver.poll_until([] { return false; });
    FAIL() << "a position behind the end went unnoticed";
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::fatal);
    const std::string text = error.what();
    EXPECT_NE(text.find("orders-0@80"), std::string::npos) << text;
    EXPECT_NE(text.find("0 to 50"), std::string::npos) << text;
    EXPECT_NE(text.find("sluice offsets"), std::string::npos) << text;
  }
  // F56: a plain seek fails from here on, a start does not.
  driver.reader().start({{first_, 40}});
  ASSERT_TRUE(driver.read(10));
  EXPECT_EQ(driver.offsets[first_], range(40, 50));
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

TEST_F(KafkaReaderTest, CloseIsQuickWhileNoBrokerAnswers) {
  produce("orders", 0, 10);
  Driver driver{config({"orders"}), 0};
  ASSERT_TRUE(driver.read(10));
  driver.reader().committed({{first_, 5}});
  driver.reader().committed({{first_, 10}});
  kafka_.set_down(1);
  const auto begun = Clock::now();
  driver.reader().close();
  EXPECT_LT(Clock::now() - begun, std::chrono::seconds{9});
}

TEST_F(KafkaReaderTest, GroupThatMayNotBeReadStopsWithTheNextStep) {
  kafka_.answer(MockKafka::Request::join_group, MockKafka::Answer::group_authorization_failed, 20);
  Driver driver{config({"orders"}), 0};
  try {
    driver.poll_until([] { return false; });
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::fatal);
    EXPECT_EQ(error.code(), "GROUP_AUTHORIZATION_FAILED");
    EXPECT_NE(std::string{error.what()}.find("READ on the group"), std::string::npos) << error.what();
  }
}

TEST_F(KafkaReaderTest, SecondProcessWithTheSameIdentityFencesTheFirst) {
  KafkaConfig settings = config({"orders"});
  settings.group_instance_prefix = "host-1";
  Driver old{settings, 0};
  ASSERT_TRUE(old.poll_until([&] { return old.owned.size() == 2; }));
  kafka_.answer(MockKafka::Request::heartbeat, MockKafka::Answer::fenced_instance_id, 5);
  try {
    old.poll_until([] { return false; });
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::fenced);
    EXPECT_NE(std::string{error.what()}.find("group.instance.id"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace sluice::kafka
