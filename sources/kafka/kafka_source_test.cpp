#include "sources/kafka/kafka_source.h"

#include <gtest/gtest.h>

#include <thread>

#include "core/model/error.h"
#include "sources/kafka/mock_kafka.h"

namespace sluice::kafka {
namespace {

class KafkaSourceTest : public ::testing::Test {
 protected:
  KafkaSourceTest() {
    for (int partition = 0; partition < 3; ++partition) {
      for (int i = 0; i < 10 * partition; ++i) kafka_.send("orders", partition, "k", "v");
    }
    kafka_.flush();
  }

  KafkaConfig config() const {
    KafkaConfig made;
    made.bootstrap_servers = kafka_.bootstrap_servers();
    made.topics = {"orders"};
    made.group_id = "sluice-test";
    return made;
  }
  // By a reader that has not even joined its group.
  Positions start(const KafkaConfig& made, const std::vector<Split>& splits) {
    KafkaSource source{made};
    return source.open_reader(0)->start_positions(splits);
  }
  std::string start_error(const KafkaConfig& made, const std::vector<Split>& splits) {
    try {
      start(made, splits);
    } catch (const Error& error) {
      EXPECT_EQ(error.fault(), Fault::fatal);
      return error.what();
    }
    return {};
  }

  struct WithTopics : MockKafka {
    WithTopics() {
      create_topic("orders", 3);
      create_topic("orders-eu", 1);
      create_topic("reorders", 1);
    }
  } kafka_;
  const std::vector<Split> all_{{"orders", 0}, {"orders", 1}, {"orders", 2}};
};

TEST_F(KafkaSourceTest, EndsAndBeginningsOfEverySplit) {
  KafkaSource source{config()};
  EXPECT_EQ(source.end_positions(), (Positions{{{"orders", 0}, 0}, {{"orders", 1}, 10}, {{"orders", 2}, 20}}));
  EXPECT_EQ(source.begin_positions(), (Positions{{{"orders", 0}, 0}, {{"orders", 1}, 0}, {{"orders", 2}, 0}}));
}

TEST_F(KafkaSourceTest, ExpressionMatchesWholeNames) {
  KafkaConfig made = config();
  made.topics.clear();
  made.topics_regex = "orders(-.*)?";
  KafkaSource source{made};
  EXPECT_EQ(source.end_positions(),
            (Positions{{{"orders", 0}, 0}, {{"orders", 1}, 10}, {{"orders", 2}, 20}, {{"orders-eu", 0}, 0}}));
  // What the group subscribes to is the same set.
  const auto reader = source.open_reader(0);
  Positions assigned;
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds{20};
  while (assigned.empty() && std::chrono::steady_clock::now() < deadline) {
    const SourceEvent event = reader->poll(10, std::chrono::milliseconds{50});
    if (const auto* given = std::get_if<Assigned>(&event)) {
      for (const Split& split : given->splits) assigned[split] = 0;
      reader->release(given->splits);
    }
  }
  EXPECT_EQ(assigned, (Positions{{{"orders", 0}, 0}, {{"orders", 1}, 0}, {{"orders", 2}, 0}, {{"orders-eu", 0}, 0}}));
}

TEST_F(KafkaSourceTest, BrokenExpressionIsNamed) {
  KafkaConfig made = config();
  made.topics.clear();
  made.topics_regex = "orders[";
  KafkaSource source{made};
  try {
    source.end_positions();
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::fatal);
    EXPECT_NE(std::string{error.what()}.find("orders["), std::string::npos) << error.what();
  }
}

TEST_F(KafkaSourceTest, MissingTopicSaysWhatToDo) {
  KafkaConfig made = config();
  made.topics = {"orders", "invoices"};
  KafkaSource source{made};
  try {
    source.end_positions();
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::fatal);
    EXPECT_NE(std::string{error.what()}.find("topic invoices does not exist on " + kafka_.bootstrap_servers()),
              std::string::npos)
        << error.what();
  }
}

TEST_F(KafkaSourceTest, StartModes) {
  KafkaConfig made = config();
  EXPECT_EQ(start(made, all_), (Positions{{all_[0], 0}, {all_[1], 0}, {all_[2], 0}}));
  made.start_mode = StartMode::latest;
  EXPECT_EQ(start(made, all_), (Positions{{all_[0], 0}, {all_[1], 10}, {all_[2], 20}}));
  made.start_mode = StartMode::group_offsets;
  EXPECT_EQ(start(made, all_), (Positions{{all_[0], 0}, {all_[1], 0}, {all_[2], 0}})) << "nothing is committed";
  made.start_mode = StartMode::specific;
  made.start_offsets = {{all_[0], 0}, {all_[2], 7}};
  EXPECT_EQ(start(made, {all_[2]}), (Positions{{all_[2], 7}}));
  const std::string text = start_error(made, {all_[1], all_[2]});
  EXPECT_NE(text.find("orders-1"), std::string::npos) << text;
}

TEST_F(KafkaSourceTest, TimestampBehindTheLastRecordStartsAtTheEnd) {
  KafkaConfig made = config();
  made.start_mode = StartMode::timestamp;
  made.start_timestamp_ms = 4'102'444'800'000;
  EXPECT_EQ(start(made, all_), (Positions{{all_[0], 0}, {all_[1], 10}, {all_[2], 20}}));
}

// librdkafka reports a split whose question got no answer without an error and with no offset (-1001). Taken for an
// offset it would let the split begin anywhere.
TEST_F(KafkaSourceTest, AnOffsetWithoutAnAnswerIsAskedForAgain) {
  using Kafka = MockKafka;
  KafkaConfig earliest = config();
  KafkaConfig latest = config();
  latest.start_mode = StartMode::latest;
  for (const auto answer : {Kafka::Answer::connection_closed, Kafka::Answer::not_leader}) {
    for (const std::size_t times : {1, 2, 5}) {
      kafka_.answer(Kafka::Request::list_offsets, answer, times);
      EXPECT_EQ(start(earliest, all_), (Positions{{all_[0], 0}, {all_[1], 0}, {all_[2], 0}}));
      kafka_.answer(Kafka::Request::list_offsets, answer, times);
      EXPECT_EQ(start(latest, all_), (Positions{{all_[0], 0}, {all_[1], 10}, {all_[2], 20}}));
    }
  }
}

TEST_F(KafkaSourceTest, StartPositionsWaitForABrokerThatComesBack) {
  KafkaSource source{config()};
  const auto reader = source.open_reader(0);
  EXPECT_EQ(reader->start_positions({all_[2]}), (Positions{{all_[2], 0}}));
  kafka_.set_down(1);
  std::thread repair{[&] { kafka_.set_up(1); }};
  EXPECT_EQ(reader->start_positions({all_[2]}), (Positions{{all_[2], 0}}));
  repair.join();
}

}  // namespace
}  // namespace sluice::kafka
