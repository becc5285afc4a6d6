// For the tests of this folder: plays the runtime for one reader, on an in-process broker.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/api/source.h"
#include "sources/kafka/kafka_source.h"
#include "sources/kafka/mock_kafka.h"

namespace sluice::kafka {
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
    if (const auto* gone = std::get_if<Lost>(&event)) lost = *gone;
    if (const auto* given = std::get_if<Assigned>(&event)) take(*given);
    if (const auto* taken = std::get_if<Revoked>(&event)) take(*taken);
  }

  SourceReader& reader() { return *reader_; }

  Positions ledger;  // where a split goes on; what it lacks begins by the start mode
  std::set<Split> owned;
  std::map<Split, std::vector<std::int64_t>> offsets;
  std::vector<std::string> values;
  std::optional<Lost> lost;
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

inline std::vector<std::int64_t> range(std::int64_t from, std::int64_t to) {
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

}  // namespace sluice::kafka
