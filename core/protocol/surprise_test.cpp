#include "core/protocol/surprise.h"

#include <gtest/gtest.h>

namespace sluice {
namespace {

using Kind = Surprise::Kind;

const Split split{"orders", 0};

Known known(std::int64_t position, std::uint64_t generation = 3) {
  Known known;
  known.position = position;
  known.generation = Generation{generation};
  return known;
}

std::vector<Kind> kinds(const TakeOverFacts& facts) {
  std::vector<Kind> kinds;
  for (const Surprise& one : surprises({split}, facts)) {
    kinds.push_back(one.kind);
    EXPECT_NE(one.text.find("orders-0"), std::string::npos) << one.text;
  }
  return kinds;
}

TEST(Surprises, NoneWhereEverythingFits) {
  TakeOverFacts facts;
  facts.ledger[split] = known(100);
  facts.group[split] = 100;
  facts.held[split] = {100, Generation{3}, Epoch{1}};
  facts.ledger[split].topic_ids = {"a"};
  facts.topics["orders"] = "a";
  EXPECT_EQ(kinds(facts), std::vector<Kind>{});
  facts.held.clear();
  facts.group[split] = 60;
  EXPECT_EQ(kinds(facts), std::vector<Kind>{}) << "the group is told after the commit, so it may lag";
}

TEST(Surprises, AnotherTopicOfTheSameName_F32) {
  TakeOverFacts facts;
  facts.ledger[split] = known(100);
  facts.ledger[split].topic_ids = {"a"};
  facts.topics["orders"] = "b";
  EXPECT_EQ(kinds(facts), std::vector{Kind::topic_recreated});
  facts.ledger[split].topic_ids.clear();
  EXPECT_EQ(kinds(facts), std::vector<Kind>{}) << "an older version wrote no id";
}

TEST(Surprises, AReplicaThatLagged_F47) {
  TakeOverFacts facts;
  facts.held[split] = {100, Generation{3}, Epoch{1}};
  facts.ledger[split] = known(90);
  EXPECT_EQ(kinds(facts), std::vector{Kind::ledger_went_back});
  EXPECT_NE(surprises({split}, facts)[0].text.find("offsets 90 to 99"), std::string::npos);
  facts.ledger[split] = known(100, 2);
  EXPECT_EQ(kinds(facts), std::vector{Kind::ledger_went_back});
  facts.ledger[split] = known(90, 4);
  EXPECT_EQ(kinds(facts), std::vector<Kind>{}) << "another process owns it: that is fencing's business";
}

TEST(Surprises, ALedgerOlderThanWhatTheGroupWasTold_F31) {
  TakeOverFacts facts;
  facts.ledger[split] = known(90);
  facts.group[split] = 100;
  EXPECT_EQ(kinds(facts), std::vector{Kind::ledger_went_back});
  facts.ledger[split].moved_by_hand = true;
  EXPECT_EQ(kinds(facts), std::vector<Kind>{});
}

TEST(Surprises, ALostLedger_F51) {
  TakeOverFacts facts;
  facts.starts[split] = 0;
  EXPECT_EQ(kinds(facts), std::vector<Kind>{}) << "a job that starts for the first time";
  facts.group[split] = 100;
  EXPECT_EQ(kinds(facts), std::vector{Kind::ledger_lost});
  facts.starts[split] = 100;
  EXPECT_EQ(kinds(facts), std::vector<Kind>{}) << "it begins where the group was";
  facts.starts[split] = 150;
  EXPECT_EQ(kinds(facts), std::vector{Kind::ledger_lost}) << "to miss records is no better than to repeat them";
  facts.group.clear();
  facts.held[split] = {100, Generation{3}, Epoch{1}};
  EXPECT_EQ(kinds(facts), std::vector{Kind::ledger_lost});
}

}  // namespace
}  // namespace sluice
