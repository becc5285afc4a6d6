// One task without trouble: where it starts, when epochs end, how it leaves. Trouble: task_failure_test.cpp; splits
// that come and go: task_rebalance_test.cpp.
#include "core/runtime/task.h"

#include "core/runtime/task_fixture.h"

namespace sluice {

namespace {

TEST_F(TaskTest, TakesOverWhatItIsAssigned) {
  start();
  EXPECT_EQ(ledger(), 0) << "a split that the ledger did not know is in it before its first record";
  EXPECT_EQ(generation(), 1U);
  EXPECT_TRUE(owned(split));
  EXPECT_EQ(progress.splits(), 1U);
}

TEST_F(TaskTest, BeginsWhereTheStartModeSays) {
  append({"a", "b", "c"});
  source.start_at(split, 2);
  start();
  step();
  EXPECT_EQ(rows(), Rows{"c"});
  EXPECT_EQ(ledger(), 3);
}

TEST_F(TaskTest, GoesOnWhereTheLedgerSays) {
  append({"a", "b"});
  start();
  step();
  task.reset();
  append({"c"});
  source.start_at(split, 0);
  source.assign(split, 1);
  start();
  step();
  EXPECT_EQ(rows(), (Rows{"a", "b", "c"})) << "the start mode counts only for splits that the ledger does not know";
  EXPECT_EQ(generation(), 2U);
}

TEST_F(TaskTest, CommitsAtOnceWhenCaughtUp) {
  append({"a", "b"});
  start();
  step();
  EXPECT_EQ(rows(), (Rows{"a", "b"}));
  EXPECT_EQ(ledger(), 2);
  EXPECT_EQ(source.committed_positions(), (Positions{{split, 2}}));
  EXPECT_EQ(progress.rows, 2U);
  EXPECT_EQ(progress.bytes, 14U) << "of the record values";
  EXPECT_EQ(progress.epochs, 1U);
  EXPECT_EQ(progress.last_epoch, 1U);
  EXPECT_EQ(progress.lag(), 0);
}

TEST_F(TaskTest, KeepsTheEpochOpenWhileRecordsCome) {
  settings.batch_rows_max = 2;
  append({"a", "b", "c", "d", "e"});
  start();
  step(2);
  EXPECT_EQ(rows(), Rows{}) << "two polls brought less than all";
  EXPECT_EQ(ledger(), 0);
  EXPECT_EQ(source.committed_positions(), Positions{});
  EXPECT_EQ(progress.rows, 0U) << "what is not committed is not counted";
  step_until([&] { return !rows().empty(); });
  EXPECT_EQ(rows(), (Rows{"a", "b", "c", "d", "e"}));
  EXPECT_EQ(database.commits(), 1U);
}

TEST_F(TaskTest, CommitsAtTheIntervalThoughRecordsCome) {
  settings.batch_rows_max = 1;
  append({"a", "b", "c", "d"});
  start();
  step();
  clock.advance(milliseconds(749));
  step();
  EXPECT_EQ(database.commits(), 0U);
  clock.advance(milliseconds(1));  // the first epoch is a quarter shorter
  step();
  EXPECT_EQ(database.commits(), 1U);
  EXPECT_EQ(rows(), (Rows{"a", "b", "c"}));
}

TEST_F(TaskTest, CommitsAtTheRowAndTheByteBound) {
  settings.batch_rows_max = 1;
  settings.epochs.rows_max = 2;
  settings.epochs.bytes_max = 16;
  append({"a", "b", "0123456789", "c", "d", "e"});
  start();
  step();
  EXPECT_EQ(ledger(), 0);
  step();
  EXPECT_EQ(ledger(), 2);
  step();
  EXPECT_EQ(ledger(), 3);
}

TEST_F(TaskTest, WaitsForTheMinimalPauseWhenCaughtUp) {
  append({"a"});
  start();
  step();
  append({"b"});
  step();
  EXPECT_EQ(ledger(), 1) << "it has caught up, but the last commit was just now";
  const auto before = clock.now();
  step();
  EXPECT_EQ(clock.now() - before, milliseconds(5)) << "it waited for no longer than the pause";
  EXPECT_EQ(ledger(), 2);
}

TEST_F(TaskTest, MakesNoTransactionsWhenIdle) {
  append({"a"});
  start();
  step(50);
  EXPECT_EQ(database.commits(), 1U);
}

TEST_F(TaskTest, HolesMoveTheLedgerAlone) {
  source.skip(split, 6);
  start();
  step_until([&] { return ledger() == 6; });
  EXPECT_EQ(rows(), Rows{});
}

TEST_F(TaskTest, DropsRecordsBelowThePosition) {  // F59: after a resume or a change of topics old records come again
  append({"a", "b", "c"});
  start();
  step();
  source.deliver_again(split, 0);
  append({"d"});
  step_until([&] { return ledger() == 4; });
  EXPECT_EQ(rows(), (Rows{"a", "b", "c", "d"}));
  EXPECT_EQ(progress.rows, 4U);
}

TEST_F(TaskTest, DropsRecordsBelowThePositionOfTheOpenEpoch) {
  settings.batch_rows_max = 2;
  append({"a", "b", "c", "d"});
  start();
  step(1);
  source.deliver_again(split, 0);
  step_until([&] { return ledger() == 4; });
  EXPECT_EQ(rows(), (Rows{"a", "b", "c", "d"}));
}

TEST_F(TaskTest, SeveralTopicsGoToTheirTablesInOneEpoch) {
  database.create_table("payments", {{"value"}, {}, false, {}, {}});
  const Split payments{"payments", 0};
  source.assign(payments, 0);
  append({"a", "b"});
  append(payments, "p");
  start();
  step_until([&] { return ledger() == 2 && ledger(payments) == 1; });
  const std::size_t commits = database.commits();  // a topic that is met for the first time begins an epoch
  append({"c", "d"});
  append(payments, "q");
  step_until([&] { return ledger() == 4 && ledger(payments) == 2; });
  EXPECT_EQ(rows(), (Rows{"a", "b", "c", "d"}));
  EXPECT_EQ(rows("payments"), (Rows{"p", "q"}));
  EXPECT_EQ(database.commits(), commits + 1);
}

TEST_F(TaskTest, FinishCommitsReleasesAndLeaves) {
  settings.batch_rows_max = 2;
  append({"a", "b", "c", "d", "e"});
  start();
  step();
  ASSERT_EQ(ledger(), 0);
  EXPECT_FALSE(task->step(Wish::finish));
  EXPECT_EQ(task->failure(), std::nullopt);
  EXPECT_GE(ledger().value(), 2);
  EXPECT_EQ(rows().size(), static_cast<std::size_t>(ledger().value()));
  EXPECT_FALSE(owned(split)) << "whoever comes next need not end our session";
  EXPECT_TRUE(source.open_readers().empty());
  EXPECT_EQ(source.committed_positions().at(split), ledger());
  EXPECT_FALSE(task->step(Wish::go_on)) << "the end is the end";
}

TEST_F(TaskTest, AbortRollsBackAndLeaves) {
  settings.batch_rows_max = 2;
  append({"a", "b", "c", "d", "e"});
  start();
  step();
  EXPECT_FALSE(task->step(Wish::abort));
  EXPECT_EQ(task->failure(), std::nullopt);
  EXPECT_EQ(rows(), Rows{});
  EXPECT_EQ(ledger(), 0);
  EXPECT_TRUE(source.open_readers().empty());
}

TEST_F(TaskTest, MayBeToldToLeaveBeforeItBegan) {
  for (const Wish wish : {Wish::abort, Wish::finish}) {
    task = std::make_unique<Task>(settings, TaskParts{source, format, sink, clock, log(), progress});
    EXPECT_FALSE(task->step(wish));
    EXPECT_EQ(task->failure(), std::nullopt) << failure();
  }
  EXPECT_TRUE(source.open_readers().empty());
}

TEST_F(TaskTest, BoundedStopsExactlyAtTheBounds) {
  append({"a", "b", "c"});
  settings.ends = source.end_positions();
  append({"d", "e"});
  start();
  EXPECT_FALSE(task->drained());
  step_until([&] { return task->drained(); });
  EXPECT_EQ(rows(), (Rows{"a", "b", "c"}));
  EXPECT_EQ(ledger(), 3);
  step(20);
  EXPECT_EQ(ledger(), 3);
}

TEST_F(TaskTest, BoundedEndsByPositionWhenHolesAreLast) {
  append({"a"});
  source.skip(split, 4);
  settings.ends = source.end_positions();
  start();
  step_until([&] { return task->drained(); });
  EXPECT_EQ(ledger(), 5) << "no record says so; the reader does";
  EXPECT_EQ(rows(), Rows{"a"});
}

TEST_F(TaskTest, BoundedEndsByPositionWhenARecordBehindTheHolesComes) {
  append({"a"});
  source.skip(split, 4);
  settings.ends = source.end_positions();
  append({"too late"});
  start();
  step_until([&] { return task->drained(); });
  EXPECT_EQ(ledger(), 5);
  EXPECT_EQ(rows(), Rows{"a"});
}

TEST_F(TaskTest, BoundedReadsNothingOfSplitsThatCameLater) {
  append({"a"});
  settings.ends = source.end_positions();
  append(other, "new");
  source.assign(other, 0);
  start();
  step_until([&] { return task->drained(); });
  step(20);
  EXPECT_EQ(rows(), Rows{"a"});
  EXPECT_EQ(ledger(other), 0);
}

TEST_F(TaskTest, BoundedIsNotDrainedWhileItsEpochIsOpen) {
  append({"a", "b"});
  settings.batch_rows_max = 1;
  settings.ends = source.end_positions();
  start();
  while (!task->drained()) {
    ASSERT_LT(rows().size(), 2U);
    step();
  }
  EXPECT_EQ(rows().size(), 2U) << "drained means committed";
}

}  // namespace

}  // namespace sluice
