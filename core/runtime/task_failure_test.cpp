// One task when something fails: what is replayed, what is waited for, what ends it.
#include <stdexcept>

#include "core/runtime/task_fixture.h"

namespace sluice {

namespace {

using TaskFailureTest = TaskTest;

TEST_F(TaskFailureTest, ARetryableErrorRollsBackWaitsAndReplays) {
  append({"a", "b"});
  start();
  fail(FakeStep::write, Fault::retryable);
  step();
  EXPECT_TRUE(progress.backing_off);
  EXPECT_EQ(rows(), Rows{});
  EXPECT_EQ(source.committed_positions(), Positions{}) << "F22, F33, F46: a position without its rows is a lost record";
  EXPECT_TRUE(logged("will be replayed"));
  const auto failed = clock.now();
  step_until([&] { return !progress.backing_off; });
  EXPECT_EQ(clock.now() - failed, milliseconds(500));
  step_until([&] { return ledger() == 2; });
  EXPECT_EQ(rows(), (Rows{"a", "b"}));
  EXPECT_EQ(generation(), 2U) << "taken over again, so that nothing of the former session can come in";
  EXPECT_EQ(progress.restarts, 1U);
  EXPECT_EQ(progress.rows, 2U);
}

TEST_F(TaskFailureTest, KeepsPollingAPausedReaderWhileItBacksOff) {
  append({"a", "b"});
  start();
  fail(FakeStep::write, Fault::retryable);
  step();
  for (int waits = 1; waits <= 4; ++waits) {
    const auto before = clock.now();
    step();
    EXPECT_EQ(clock.now() - before, milliseconds(100)) << "the poll waited: the records that are there did not come";
  }
  EXPECT_TRUE(progress.backing_off);
}

TEST_F(TaskFailureTest, EndsWhenTheBudgetIsSpent) {
  settings.restart.attempts = 2;
  append({"a"});
  start();
  fail(FakeStep::write, Fault::retryable, 99);
  const std::string text = step_to_failure();
  EXPECT_NE(text.find("gave up after 3 failures in a row"), std::string::npos) << text;
  EXPECT_EQ(progress.restarts, 2U);
  EXPECT_TRUE(source.open_readers().empty());
  EXPECT_EQ(rows(), Rows{});
}

TEST_F(TaskFailureTest, ACommitRefillsTheBudget) {
  settings.restart.attempts = 1;
  start();
  for (const char* value : {"a", "b", "c"}) {
    append({value});
    fail(FakeStep::write, Fault::retryable);
    step_until([&] { return !rows().empty() && rows().back() == value; });
  }
  EXPECT_EQ(progress.restarts, 3U);
}

TEST_F(TaskFailureTest, ACommitInDoubtThatHappenedIsNotRepeated) {
  append({"a", "b"});
  start();
  fail(FakeStep::after_commit, Fault::in_doubt);
  step();
  ASSERT_EQ(rows(), (Rows{"a", "b"}));
  append({"c"});
  step_until([&] { return ledger() == 3; });
  EXPECT_EQ(rows(), (Rows{"a", "b", "c"}));
  EXPECT_EQ(number(database.claim("job", "fake", split)->epoch), 2U) << "the epoch that happened keeps its number";
}

TEST_F(TaskFailureTest, ACommitInDoubtThatDidNotHappenIsRepeated) {
  append({"a", "b"});
  start();
  fail(FakeStep::before_commit, Fault::in_doubt);
  step();
  ASSERT_EQ(rows(), Rows{});
  step_until([&] { return ledger() == 2; });
  EXPECT_EQ(rows(), (Rows{"a", "b"}));
}

TEST_F(TaskFailureTest, IsNotFencedByItsOwnTakeOverWhoseAnswerWasLost) {
  append({"a"});
  start();
  int take_overs = 0;
  bool failed = false;
  database.on_step([&](FakeStep now) {
    if (now == FakeStep::write && !std::exchange(failed, true)) throw Error(Fault::retryable, "first trouble");
    if (now == FakeStep::after_take_over && ++take_overs == 1) throw Error(Fault::in_doubt, "second trouble");
  });
  step_until([&] { return ledger() == 1; });
  EXPECT_EQ(take_overs, 2);
  EXPECT_EQ(generation(), 3U);
  EXPECT_EQ(rows(), Rows{"a"});
}

// Whatever call to the sink fails, at whatever passage, before or after it had its effect: each row once, and the
// source is never told more than the ledger says.
TEST_F(TaskFailureTest, EveryStepMayFailOnce) {
  const std::vector<FakeStep> steps{FakeStep::connect,         FakeStep::known, FakeStep::before_take_over,
                                    FakeStep::after_take_over, FakeStep::write, FakeStep::before_commit,
                                    FakeStep::after_commit};
  int failures = 0;
  for (const FakeStep at : steps) {
    for (int passages = 0; passages < 4; ++passages) {
      const bool after = at == FakeStep::after_take_over || at == FakeStep::after_commit;
      const Split fresh{"orders", 100 + ++failures};
      const std::size_t reader = static_cast<std::size_t>(failures - 1);
      source.assign(fresh, reader);
      settings.batch_rows_max = 1;
      settings.epochs.rows_max = 2;
      database.create_table("orders", {{"value"}, {}, false, {}, {}});
      for (int record = 0; record < 5; ++record) append(fresh, std::to_string(record));
      fail(at, after ? Fault::in_doubt : Fault::retryable, 1, passages);
      task = std::make_unique<Task>(settings, TaskParts{source, format, sink, clock, log(), progress});
      step_until([&] {
        const auto told = source.committed_positions();
        EXPECT_LE(told.contains(fresh) ? told.at(fresh) : 0, ledger(fresh).value_or(0));
        return ledger(fresh) == 5;
      });
      EXPECT_EQ(rows(), (Rows{"0", "1", "2", "3", "4"})) << "step " << static_cast<int>(at) << ", " << passages;
      database.on_step({});
      EXPECT_FALSE(task->step(Wish::abort));
    }
  }
  EXPECT_GE(progress.restarts, 14U) << "the failures were not reached";
}

TEST_F(TaskFailureTest, SurvivesARestartOfTheServer) {
  append({"a"});
  start();
  step();
  database.end_all_sessions();
  append({"b"});
  step_until([&] { return ledger() == 2; });
  EXPECT_EQ(rows(), (Rows{"a", "b"}));
}

TEST_F(TaskFailureTest, ReplaysWhenTheSourceFails) {
  settings.batch_rows_max = 1;
  append({"a", "b", "c"});
  start();
  step();
  source.fail_poll(0, Error(Fault::retryable, "the broker is away"));
  step();
  EXPECT_TRUE(progress.backing_off);
  step_until([&] { return ledger() == 3; });
  EXPECT_EQ(rows(), (Rows{"a", "b", "c"}));
}

TEST_F(TaskFailureTest, FindsTheRecordAtFaultByReplayingItsEpoch) {
  database.create_table("orders", {{"value"}, {}, false, [](const auto& row) { return row.front() == "bad"; }, {}});
  append({"a", "b", "bad", "c"});
  start();
  const auto before = clock.now();
  const std::string text = step_to_failure();
  EXPECT_NE(text.find("orders-0@2: "), std::string::npos) << text;
  EXPECT_EQ(task->failure()->fault(), Fault::bad_record);
  EXPECT_TRUE(logged("looking for the record at fault"));
  EXPECT_EQ(clock.now(), before) << "waiting would not mend the record";
  EXPECT_EQ(rows(), Rows{});
  EXPECT_EQ(ledger(), 0);
}

TEST_F(TaskFailureTest, ReturnsToTheFastPathWhenTheIsolatedEpochPasses) {
  append({"a", "b"});
  start();
  fail(FakeStep::before_commit, Fault::bad_record);
  step_until([&] { return ledger() == 2; });
  EXPECT_EQ(rows(), (Rows{"a", "b"}));
  ASSERT_TRUE(logged("looking for the record at fault"));
  lines.clear();
  append({"c"});
  fail(FakeStep::before_commit, Fault::bad_record);
  step_until([&] { return ledger() == 3; });
  EXPECT_TRUE(logged("looking for the record at fault")) << "it was still isolating: it did not have to look again";
}

TEST_F(TaskFailureTest, IsolatesUntilAllOfTheRefusedEpochIsWritten) {
  settings.batch_rows_max = 1;
  append({"a", "b", "c"});
  start();
  fail(FakeStep::before_commit, Fault::bad_record);
  step(3);
  ASSERT_TRUE(logged("looking for the record at fault"));
  step(2);
  source.assign(other, 0);
  step();
  ASSERT_LT(ledger().value(), 3) << "a rebalance cut the replay short";
  fail(FakeStep::before_commit, Fault::bad_record, 2);
  EXPECT_NE(step_to_failure(), "it did not end")
      << "the refusal of a row that was isolated has nothing left to look for";
}

TEST_F(TaskFailureTest, DoesNotLookForEver) {
  append({"a", "b"});
  start();
  fail(FakeStep::before_commit, Fault::bad_record, 99);
  step_to_failure();
  ASSERT_TRUE(task->failure());
  EXPECT_EQ(task->failure()->fault(), Fault::bad_record);
}

TEST_F(TaskFailureTest, ARecordThatDoesNotDecodeEndsItAndIsNamed) {
  append({"a"});
  source.append(split, "garbage");
  start();
  const std::string text = step_to_failure();
  EXPECT_EQ(text.find("orders-0@1: "), 0U) << text;
  EXPECT_EQ(text.find("garbage"), std::string::npos) << "values of records do not belong into messages";
  EXPECT_EQ(task->failure()->fault(), Fault::bad_record);
  EXPECT_EQ(ledger(), 0);
}

TEST_F(TaskFailureTest, FencedAndFatalEndItAtOnce) {
  for (const Fault fault : {Fault::fenced, Fault::fatal}) {
    const std::size_t reader = fault == Fault::fenced ? 0 : 1;
    source.assign(split, reader);
    append({"a"});
    start();
    fail(FakeStep::before_commit, fault);
    const auto before = clock.now();
    step_to_failure();
    ASSERT_TRUE(task->failure());
    EXPECT_EQ(task->failure()->fault(), fault);
    EXPECT_EQ(clock.now(), before);
    EXPECT_EQ(progress.restarts, 0U);
    EXPECT_EQ(rows(), Rows{});
    EXPECT_TRUE(source.open_readers().empty());
  }
}

TEST_F(TaskFailureTest, AnythingElseThatIsThrownIsAFailureToo) {
  append({"a"});
  start();
  database.on_step([](FakeStep) { throw std::logic_error("a bug"); });
  EXPECT_EQ(step_to_failure(), "internal: a bug");
  EXPECT_EQ(task->failure()->fault(), Fault::fatal);
}

TEST_F(TaskFailureTest, LeavesInOrderAlthoughTheLastCommitFails) {
  settings.batch_rows_max = 1;
  append({"a", "b", "c"});
  start();
  step();
  fail(FakeStep::before_commit, Fault::retryable);
  EXPECT_TRUE(task->step(Wish::finish));
  EXPECT_FALSE(task->step(Wish::finish)) << "it does not wait for the database to come back";
  EXPECT_EQ(task->failure(), std::nullopt) << failure();
  EXPECT_EQ(rows(), Rows{});
  EXPECT_EQ(ledger(), 0);
}

TEST_F(TaskFailureTest, LeavesInOrderAlthoughTheReleaseFails) {
  append({"a"});
  start();
  fail(FakeStep::before_release, Fault::retryable);
  EXPECT_FALSE(task->step(Wish::finish));
  EXPECT_EQ(task->failure(), std::nullopt) << failure();
  EXPECT_EQ(ledger(), 1) << "all of it is committed";
  EXPECT_TRUE(source.open_readers().empty());
}

// Bad records that the job is to live with.
class TaskLetterTest : public TaskTest {
 protected:
  TaskLetterTest() {
    settings.on_bad_record = OnBadRecord::set_aside;
    database.create_table("orders", {{"value"}, {}, false, [](const auto& row) { return row.front() == "bad"; }, {}});
  }
  std::vector<std::int64_t> letters() const {
    std::vector<std::int64_t> offsets;
    for (const DeadLetter& letter : database.letters()) offsets.push_back(letter.offset);
    return offsets;
  }
};

TEST_F(TaskLetterTest, ARecordThatDoesNotDecodeIsSetAsideWithoutAReplay) {
  append({"a"});
  source.append(split, "garbage", "key");
  append({"b"});
  start();
  step();
  EXPECT_EQ(rows(), (Rows{"a", "b"}));
  ASSERT_EQ(letters(), std::vector<std::int64_t>{1});
  const DeadLetter letter = database.letters().front();
  EXPECT_EQ(letter.split, split);
  EXPECT_EQ(letter.value, "garbage");
  EXPECT_EQ(letter.key, "key");
  EXPECT_EQ(letter.of, RejectClass::data);
  EXPECT_EQ(letter.epoch, Epoch{1});
  EXPECT_EQ(letter.message.find("garbage"), std::string::npos);
  EXPECT_EQ(progress.rows, 2U);
  EXPECT_EQ(progress.letters, 1U);
  EXPECT_EQ(progress.restarts, 0U);
  EXPECT_TRUE(logged("went to the dead letters"));
}

TEST_F(TaskLetterTest, ARowThatTheServerRefusesIsFoundByAReplay) {
  append({"a", "bad", "b"});
  start();
  step_until([&] { return ledger() == 3; });
  EXPECT_EQ(rows(), (Rows{"a", "b"}));
  EXPECT_EQ(letters(), std::vector<std::int64_t>{1});
  EXPECT_EQ(database.letters().front().of, RejectClass::constraint);
  append({"c", "d"});
  step_until([&] { return ledger() == 5; });
  lines.clear();
  append({"bad"});
  step_until([&] { return ledger() == 6; });
  EXPECT_TRUE(logged("looking for the record at fault")) << "it was fast again";
}

TEST_F(TaskLetterTest, LettersOfAnEpochThatFailsAreWrittenOnce) {
  source.append(split, "garbage");
  append({"a"});
  start();
  fail(FakeStep::before_commit, Fault::retryable);
  step_until([&] { return ledger() == 2; });
  EXPECT_EQ(letters(), std::vector<std::int64_t>{0});
  EXPECT_EQ(progress.letters, 1U);
}

TEST_F(TaskLetterTest, TooLargeAShareEndsTheJobWithNothingWritten) {
  settings.bad_share_max = 0.5;
  for (int i = 0; i < 1000; ++i) source.append(split, i % 3 == 0 ? "value=good" : "garbage");
  start();
  const std::string text = step_to_failure();
  EXPECT_NE(text.find("errors.max.share"), std::string::npos) << text;
  EXPECT_NE(text.find("orders-0@1: "), std::string::npos) << "names the first: " << text;
  EXPECT_EQ(rows(), Rows{});
  EXPECT_EQ(letters(), std::vector<std::int64_t>{});
}

TEST_F(TaskLetterTest, DroppedOnDemand) {
  settings.on_bad_record = OnBadRecord::drop;
  append({"a", "bad", "b"});
  start();
  step_until([&] { return ledger() == 3; });
  EXPECT_EQ(rows(), (Rows{"a", "b"}));
  EXPECT_EQ(letters(), std::vector<std::int64_t>{});
  EXPECT_TRUE(logged("were dropped"));
}

// What a topic of letters must have got before the epoch is committed.
class Outbox final : public LetterOutbox {
 public:
  void deliver(std::span<const DeadLetter> letters) override {
    if (broken) throw Error(Fault::retryable, "the broker is away");
    delivered += letters.size();
  }
  std::size_t delivered = 0;
  bool broken = false;
};

TEST_F(TaskLetterTest, TheOutboxHasThemBeforeTheCommit) {
  settings.on_bad_record = OnBadRecord::send;
  Outbox outbox;
  outbox.broken = true;
  append({"a"});
  source.append(split, "garbage");
  task = std::make_unique<Task>(settings, TaskParts{source, format, sink, clock, log(), progress, &outbox});
  step(2);
  EXPECT_EQ(rows(), Rows{}) << "the letter is not safe yet";
  outbox.broken = false;
  step_until([&] { return ledger() == 2; });
  EXPECT_EQ(rows(), Rows{"a"});
  EXPECT_EQ(outbox.delivered, 1U);
}

}  // namespace

}  // namespace sluice
