#include "sinks/sql/two_phase.h"

#include <gtest/gtest.h>

namespace sluice::sql {
namespace {

TEST(TransactionName, SurvivesTheServer) {
  const TransactionName name{3, Generation{12}, 99};
  EXPECT_EQ(name.text("sluice/job/main/"), "sluice/job/main/3/12/99");
  const auto read = TransactionName::parse("sluice/job/main/", "sluice/job/main/3/12/99");
  ASSERT_TRUE(read);
  EXPECT_EQ(read->task, 3U);
  EXPECT_EQ(read->generation, Generation{12});
  EXPECT_EQ(read->number, 99U);
}

TEST(TransactionName, ForeignOnesAreNotTakenForOurs) {
  for (const char* const text : {"sluice/job/main2/3/12/99", "sluice/job/main/3/12", "sluice/job/main/3/12/99/1",
                                 "sluice/job/main/a/12/99", "other", "", "sluice/job/main/3/12/9x"}) {
    EXPECT_FALSE(TransactionName::parse("sluice/job/main/", text)) << text;
  }
}

TEST(Settlement, OnlyACheckpointCommitsAndNothingNewerIsTouched) {
  const auto of = [](std::size_t task, std::uint64_t generation, bool decided) {
    return settlement({task, Generation{generation}, 1}, decided, 0, Generation{5});
  };
  EXPECT_EQ(of(0, 4, true), Settlement::commit);
  EXPECT_EQ(of(7, 4, true), Settlement::commit) << "of a task that there is no more";
  EXPECT_EQ(of(0, 4, false), Settlement::roll_back);
  EXPECT_EQ(of(7, 4, false), Settlement::roll_back);
  EXPECT_EQ(of(0, 5, false), Settlement::roll_back) << "this task's own last try";
  EXPECT_EQ(of(1, 5, false), Settlement::leave) << "another task's, whose checkpoint is on its way";
  EXPECT_EQ(of(1, 5, true), Settlement::leave) << "it commits that itself";
  EXPECT_EQ(of(0, 6, false), Settlement::leave);
  EXPECT_EQ(of(0, 6, true), Settlement::leave);
}

}  // namespace
}  // namespace sluice::sql
