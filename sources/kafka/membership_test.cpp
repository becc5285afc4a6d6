#include <gtest/gtest.h>

#include "core/model/error.h"
#include "sources/kafka/reader_fixture.h"

namespace sluice::kafka {
namespace {

class MembershipTest : public KafkaReaderTest {};

TEST_F(MembershipTest, SecondReaderTakesSplitsOverOnlyAfterRelease) {
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

TEST_F(MembershipTest, CloseHandsSplitsToTheOtherReader) {
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

TEST_F(MembershipTest, CommittedPositionsOfOwnedSplitsReachTheGroup_F33) {
  produce("orders", 0, 50);
  Driver driver{config({"orders"}), 0};
  ASSERT_TRUE(driver.read(50));
  driver.reader().committed({{first_, 17}, {{"payments", 0}, 5}});
  driver.reader().committed({{first_, 42}});  // within the interval: sent at the latest by close()
  driver.reader().close();
  EXPECT_EQ(committed({first_, second_}), (Positions{{first_, 42}, {second_, 0}}));
}

TEST_F(MembershipTest, NothingIsCommittedUnasked_F45) {
  produce("orders", 0, 50);
  Driver driver{config({"orders"}), 0};
  ASSERT_TRUE(driver.read(50));
  driver.reader().close();
  EXPECT_EQ(committed({first_}), (Positions{{first_, 0}}));
}

TEST_F(MembershipTest, ReleaseSendsThePositionsOfTheSplitsThatLeave) {
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

TEST_F(MembershipTest, CloseIsQuickWhileNoBrokerAnswers) {
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

TEST_F(MembershipTest, GroupThatMayNotBeReadStopsWithTheNextStep) {
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

TEST_F(MembershipTest, AFencedMemberIsBrokenAndTheLedgerDecidesWhetherItMayStartAgain) {
  KafkaConfig settings = config({"orders"});
  settings.group_instance_prefix = "host-1";
  Driver old{settings, 0};
  ASSERT_TRUE(old.poll_until([&] { return old.owned.size() == 2; }));
  kafka_.answer(MockKafka::Request::heartbeat, MockKafka::Answer::fenced_instance_id, 5);
  try {
    old.poll_until([] { return false; });
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::retryable);
    EXPECT_TRUE(old.reader().broken());
    EXPECT_NE(std::string{error.what()}.find("group.instance.id"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace sluice::kafka
