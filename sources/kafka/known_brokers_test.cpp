#include "sources/kafka/known_brokers.h"

#include <gtest/gtest.h>

namespace sluice::kafka {
namespace {

TEST(KnownBrokersTest, BrokersCountWhateverTheirState) {
  EXPECT_TRUE(knows_a_broker(R"({"type": "consumer", "brokers": {
      "GroupCoordinator": {"name": "GroupCoordinator", "source": "logical", "state": "UP"},
      "a:9092/1": {"name": "a:9092/1", "source": "learned", "state": "DOWN"}}})"));
  EXPECT_TRUE(knows_a_broker(R"({"brokers": {"a:9092/bootstrap": {"source": "configured", "state": "INIT"}}})"));
}

TEST(KnownBrokersTest, RolesAreNoBrokers) {
  EXPECT_FALSE(
      knows_a_broker(R"({"brokers": {"GroupCoordinator": {"source": "logical", "state": "UP"}}, "topics": {}})"));
  EXPECT_FALSE(knows_a_broker(R"({"brokers": {}})"));
}

TEST(KnownBrokersTest, InDoubtThereIsOne) {
  EXPECT_TRUE(knows_a_broker(""));
  EXPECT_TRUE(knows_a_broker("{}"));
  EXPECT_TRUE(knows_a_broker(R"({"brokers": [1]})"));
  EXPECT_TRUE(knows_a_broker(R"({"brokers": {"a:9092/1": {"state": "UP"}}})"));
}

}  // namespace
}  // namespace sluice::kafka
