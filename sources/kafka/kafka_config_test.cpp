#include "sources/kafka/kafka_source.h"

#include <gtest/gtest.h>

#include "core/model/error.h"

namespace sluice {
namespace {

KafkaConfig valid_config() {
  KafkaConfig config;
  config.bootstrap_servers = "127.0.0.1:1";
  config.topics = {"orders"};
  config.group_id = "sluice-orders";
  return config;
}

std::string error_of(const KafkaConfig& config) {
  try {
    KafkaSource source{config};
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::fatal);
    return error.what();
  }
  return {};
}

class RefusedProperty : public ::testing::TestWithParam<const char*> {};

TEST_P(RefusedProperty, IsRefusedByNameWithAReason_F45_F65) {
  const std::string name = GetParam();
  const auto problems = check_kafka_properties({{name, "true"}});
  ASSERT_EQ(problems.size(), 1U);
  EXPECT_NE(problems[0].find("Kafka property " + name + " may not be set: "), std::string::npos) << problems[0];

  KafkaConfig config = valid_config();
  config.properties[name] = "true";
  EXPECT_NE(error_of(config).find(name), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(All, RefusedProperty,
                         ::testing::Values("enable.auto.commit", "enable.auto.offset.store", "auto.offset.reset",
                                           "auto.commit.interval.ms", "isolation.level", "group.protocol", "group.id",
                                           "partition.assignment.strategy", "group.instance.id", "enable.partition.eof",
                                           "bootstrap.servers", "metadata.broker.list", "allow.auto.create.topics"));

TEST(KafkaConfigTest, UnknownNameAndWrongValueAreToldApart) {
  const auto problems = check_kafka_properties({{"fetch.min.bites", "1"}, {"session.timeout.ms", "soon"}});
  ASSERT_EQ(problems.size(), 2U);
  EXPECT_NE(problems[0].find("fetch.min.bites is not known"), std::string::npos) << problems[0];
  EXPECT_NE(problems[1].find("session.timeout.ms has a value"), std::string::npos) << problems[1];
}

TEST(KafkaConfigTest, TuningAndSecurityPassThrough) {
  EXPECT_TRUE(check_kafka_properties({{"fetch.wait.max.ms", "5"},
                                      {"queued.min.messages", "100"},
                                      {"security.protocol", "SASL_SSL"},
                                      {"sasl.mechanism", "SCRAM-SHA-512"},
                                      {"sasl.username", "me"},
                                      {"sasl.password", "hunter2"}})
                  .empty());
  KafkaConfig config = valid_config();
  config.properties = {{"fetch.wait.max.ms", "5"}, {"session.timeout.ms", "45000"}};
  EXPECT_EQ(error_of(config), "");
}

TEST(KafkaConfigTest, SecretsStayOutOfMessages) {
  for (const char* name : {"ssl.key.pem", "ssl.keystore.password", "sasl.password", "ssl.key.password"}) {
    // A NUL-free value that some of these names refuse; whatever is said must not repeat it.
    for (const auto& problem : check_kafka_properties({{name, "hunter2"}})) {
      EXPECT_EQ(problem.find("hunter2"), std::string::npos) << problem;
    }
    KafkaConfig config = valid_config();
    config.properties = {{name, "hunter2"}, {"security.protocol", "nonsense"}};
    EXPECT_EQ(error_of(config).find("hunter2"), std::string::npos);
  }
}

TEST(KafkaConfigTest, SourceNeedsServersGroupAndOneKindOfTopics) {
  EXPECT_EQ(error_of(valid_config()), "");
  KafkaConfig config = valid_config();
  config.bootstrap_servers.clear();
  EXPECT_NE(error_of(config).find("bootstrap.servers"), std::string::npos);
  config = valid_config();
  config.group_id.clear();
  EXPECT_NE(error_of(config).find("group.id"), std::string::npos);
  config = valid_config();
  config.topics.clear();
  EXPECT_NE(error_of(config).find("topics.regex"), std::string::npos);
  config = valid_config();
  config.topics_regex = "orders.*";
  EXPECT_NE(error_of(config).find("not both"), std::string::npos);
  config.topics = {"^orders"};
  config.topics_regex.clear();
  EXPECT_NE(error_of(config).find("topics.regex"), std::string::npos);
}

}  // namespace
}  // namespace sluice
