// A task whose splits come and go: in order, or taken from it.
#include "core/runtime/task_fixture.h"

namespace sluice {

namespace {

class TaskRebalanceTest : public TaskTest {
 protected:
  // An epoch with one record of the split in it, and two more to come.
  void start_with_open_epoch() {
    settings.batch_rows_max = 1;
    append({"a", "b", "c"});
    start();
    step();
    ASSERT_EQ(rows(), Rows{});
  }
  // The same job in another process; its reader is number 1.
  void start_second() {
    second = std::make_unique<Task>(settings, TaskParts{source, format, sink, clock, log(), second_progress});
    ASSERT_TRUE(second->step(Wish::go_on));
  }
  void second_reads_to(std::int64_t position) {
    for (int turn = 0; ledger() != position; ++turn) {
      ASSERT_LT(turn, 1000);
      ASSERT_TRUE(second->step(Wish::go_on));
    }
  }

  TaskProgress second_progress;
  std::unique_ptr<Task> second;
};

TEST_F(TaskRebalanceTest, AssignedWhileAnEpochIsOpenCommitsItFirst) {
  start_with_open_epoch();
  source.assign(other, 0);
  append(other, "x");
  step();
  EXPECT_EQ(rows(), Rows{"a"});
  EXPECT_EQ(ledger(other), 0);
  EXPECT_EQ(generation(), 1U) << "what it had it keeps; only the new split is taken over";
  step_until([&] { return ledger() == 3 && ledger(other) == 1; });
  EXPECT_EQ(rows().size(), 4U);
}

TEST_F(TaskRebalanceTest, RevokedCommitsAndReleasesBeforeTheSplitLeaves) {
  start_with_open_epoch();
  source.revoke(split);
  step();
  EXPECT_EQ(rows(), Rows{"a"});
  EXPECT_EQ(ledger(), 1);
  EXPECT_FALSE(owned(split));
  EXPECT_EQ(source.reader_of(split), std::nullopt) << "the group waits for it";
  EXPECT_EQ(progress.splits(), 0U);
  source.assign(split, 0);
  step_until([&] { return ledger() == 3; });
  EXPECT_EQ(rows(), (Rows{"a", "b", "c"}));
  EXPECT_EQ(generation(), 2U);
}

TEST_F(TaskRebalanceTest, RevokedReleasesOnlyWhatIsCommitted) {
  start_with_open_epoch();
  std::vector<FakeStep> steps;
  database.on_step([&](FakeStep now) { steps.push_back(now); });
  source.revoke(split);
  step();
  EXPECT_EQ(steps, (std::vector<FakeStep>{FakeStep::before_commit, FakeStep::after_commit, FakeStep::before_release,
                                          FakeStep::after_release}))
      << "who releases first and dies then leaves an open transaction that nobody ends";
}

TEST_F(TaskRebalanceTest, RevokedLeavesTheOtherSplitsAlone) {
  source.assign(other, 0);
  start_with_open_epoch();
  source.revoke(split);
  append(other, "x");
  step_until([&] { return ledger(other) == 1; });
  EXPECT_TRUE(owned(other));
  EXPECT_EQ(number(database.claim("job", "fake", other)->generation), 1U);
  EXPECT_EQ(rows(), (Rows{"a", "x"}));
}

TEST_F(TaskRebalanceTest, ASplitLeavesAlthoughItsCommitFails) {
  start_with_open_epoch();
  fail(FakeStep::before_commit, Fault::retryable);
  source.revoke(split);
  step();
  EXPECT_EQ(source.reader_of(split), std::nullopt) << "or the whole group would wait for a database";
  EXPECT_EQ(ledger(), 0);
  EXPECT_EQ(rows(), Rows{});
  source.assign(split, 0);
  step_until([&] { return ledger() == 3; });
  EXPECT_EQ(rows(), (Rows{"a", "b", "c"}));
}

TEST_F(TaskRebalanceTest, ASplitLeavesWithAnAnswerThatWasLost) {
  start_with_open_epoch();
  fail(FakeStep::after_commit, Fault::in_doubt);
  source.revoke(split);
  step();
  EXPECT_EQ(source.reader_of(split), std::nullopt);
  source.assign(split, 0);
  step_until([&] { return ledger() == 3; });
  EXPECT_EQ(rows(), (Rows{"a", "b", "c"}));
}

TEST_F(TaskRebalanceTest, LostRollsTheEpochBackAndGoesOn) {
  source.assign(other, 0);
  start_with_open_epoch();
  start_second();
  source.steal(split, 1);
  step();
  EXPECT_EQ(rows(), Rows{}) << "its records are another process's now";
  EXPECT_EQ(progress.restarts, 1U);
  second->step(Wish::go_on);
  second_reads_to(3);
  append(other, "x");
  step_until([&] { return ledger(other) == 1; });
  EXPECT_EQ(rows(), (Rows{"a", "b", "c", "x"}));
}

TEST_F(TaskRebalanceTest, LostWithoutAnOpenEpochCostsNothing) {
  source.assign(other, 0);
  start();
  start_second();
  source.steal(split, 1);
  append(other, "x");
  step_until([&] { return ledger(other) == 1; });
  EXPECT_EQ(progress.restarts, 0U);
  EXPECT_EQ(progress.splits(), 1U);
}

TEST_F(TaskRebalanceTest, AnswersTheGroupWhileItBacksOff) {
  start_with_open_epoch();
  fail(FakeStep::write, Fault::retryable);
  step();
  ASSERT_TRUE(progress.backing_off);
  source.revoke(split);
  source.assign(other, 0);
  step(2);
  EXPECT_TRUE(progress.backing_off);
  EXPECT_EQ(source.reader_of(split), std::nullopt) << "handed back though the database is away";
  EXPECT_EQ(source.reader_of(other), 0U);
  EXPECT_EQ(ledger(other), std::nullopt) << "not taken over yet";
  append(other, "x");
  step_until([&] { return ledger(other) == 1; });
  EXPECT_EQ(rows(), Rows{"x"});
  EXPECT_EQ(ledger(), 0);
}

TEST_F(TaskRebalanceTest, HearsWhatItLostInItsSleepBeforeItTakesOver) {
  start();
  fail(FakeStep::write, Fault::retryable);
  append({"a"});
  step();
  source.assign(other, 0);
  step();  // assigned, not taken over: it backs off
  clock.advance(std::chrono::hours(1));
  start_second();
  source.steal(other, 1);
  ASSERT_TRUE(second->step(Wish::go_on));
  ASSERT_EQ(number(database.claim("job", "fake", other)->generation), 1U);
  step_until([&] { return ledger() == 1; });
  EXPECT_EQ(number(database.claim("job", "fake", other)->generation), 1U) << "the new owner would have been fenced";
}

TEST_F(TaskRebalanceTest, AZombieIsFencedAtItsCommit) {
  database.keep_sessions_at_take_over();
  start_with_open_epoch();
  start_second();
  source.steal(split, 1, FakeSource::Tell::never);
  second->step(Wish::go_on);
  second_reads_to(3);
  step_to_failure();
  ASSERT_TRUE(task->failure());
  EXPECT_EQ(task->failure()->fault(), Fault::fenced) << failure();
  EXPECT_EQ(progress.restarts, 0U);
  EXPECT_EQ(rows(), (Rows{"a", "b", "c"}));
  EXPECT_EQ(progress.rows, 0U);
}

// Nothing was committed since the take-over: the position alone would let the zombie's epoch pass.
TEST_F(TaskRebalanceTest, AZombieIsFencedThoughThePositionIsStillItsOwn) {
  database.keep_sessions_at_take_over();
  start_with_open_epoch();
  start_second();
  source.steal(split, 1, FakeSource::Tell::never);
  second->step(Wish::go_on);
  ASSERT_EQ(ledger(), 0);
  step_to_failure();
  ASSERT_TRUE(task->failure());
  EXPECT_EQ(task->failure()->fault(), Fault::fenced) << failure();
  EXPECT_EQ(rows(), Rows{});
}

TEST_F(TaskRebalanceTest, AZombieWhoseSessionWasEndedIsFencedAtItsTakeOver) {
  start_with_open_epoch();
  start_second();
  source.steal(split, 1, FakeSource::Tell::never);
  second->step(Wish::go_on);
  second_reads_to(3);
  step_to_failure();
  ASSERT_TRUE(task->failure());
  EXPECT_EQ(task->failure()->fault(), Fault::fenced) << failure();
  EXPECT_EQ(progress.restarts, 1U);
  EXPECT_EQ(rows(), (Rows{"a", "b", "c"}));
}

TEST_F(TaskRebalanceTest, AZombieDoesNotTakeItsSplitsBack) {
  start();
  start_second();
  source.steal(split, 1, FakeSource::Tell::never);
  second->step(Wish::go_on);
  ASSERT_EQ(generation(), 2U);
  source.fail_poll(0, Error(Fault::retryable, "the zombie has trouble of its own"));
  step_to_failure();
  ASSERT_TRUE(task->failure());
  EXPECT_EQ(task->failure()->fault(), Fault::fenced) << failure();
  EXPECT_EQ(generation(), 2U) << "the new owner goes on undisturbed";
  append({"a"});
  second_reads_to(1);
}

TEST_F(TaskRebalanceTest, TakesNothingOverThatTheGroupHasGivenAway) {
  database.set_claim("job", "fake", split, Claim{0, Generation{3}, {}});
  source.deny_assignments(2);
  append({"a"});
  start();
  EXPECT_EQ(generation(), 3U) << "whoever has it now was fenced";
  EXPECT_TRUE(logged("dealt the partitions"));
  step_until([&] { return ledger() == 1; });
  EXPECT_EQ(generation(), 4U);
  EXPECT_EQ(rows(), Rows{"a"});
}

}  // namespace

}  // namespace sluice
