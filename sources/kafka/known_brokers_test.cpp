#include "sources/kafka/known_brokers.h"

#include <gtest/gtest.h>

#include <string>

namespace sluice::kafka {
namespace {

const std::string coordinator = R"("GroupCoordinator": {"source": "logical", "state": "UP"})";

TEST(KnownBrokersTest, OneThatIsDownIsKnown) {
  const auto known = known_brokers(R"({"brokers": {)" + coordinator +
                                   R"(, "a:9092/1": {"source": "learned", "state": "DOWN"},
                                        "a:9092/bootstrap": {"source": "configured", "state": "INIT"}}})");
  EXPECT_TRUE(known.any);
  EXPECT_FALSE(known.any_up);
}

TEST(KnownBrokersTest, OneThatIsUpIsEnough) {
  const auto known = known_brokers(R"({"type": "consumer", "brokers": {
      "a:9092/1": {"source": "learned", "state": "DOWN"}, "b:9092/2": {"source": "learned", "state": "UP"}}})");
  EXPECT_TRUE(known.any);
  EXPECT_TRUE(known.any_up);
}

TEST(KnownBrokersTest, RolesAreNoBrokers) {
  for (const std::string& brokers : {coordinator, std::string()}) {
    const auto known = known_brokers(R"({"brokers": {)" + brokers + R"(}, "topics": {}})");
    EXPECT_FALSE(known.any);
    EXPECT_FALSE(known.any_up);
  }
}

TEST(KnownBrokersTest, InDoubtThereIsOne) {
  for (const char* text : {"", "{}", R"({"brokers": [1]})", R"({"brokers": {"a:9092/1": {"state": "DOWN"}}})"}) {
    EXPECT_TRUE(known_brokers(text).any) << text;
    EXPECT_TRUE(known_brokers(text).any_up) << text;
  }
}

}  // namespace
}  // namespace sluice::kafka
