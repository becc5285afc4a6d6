// One task when the log, the topic or the ledger is not what it was.
#include "core/runtime/task_fixture.h"

namespace sluice {

namespace {

class TaskSurpriseTest : public TaskTest {
 protected:
  void run_to(std::int64_t position) {
    step_until([&] { return ledger() == position; });
  }
  void stop() { EXPECT_FALSE(task->step(Wish::finish)); }
  // A new process, which knows nothing but what is written down.
  void start_again() {
    source.assign(split, ++readers_);
    task = std::make_unique<Task>(settings, TaskParts{source, format, sink, clock, log(), progress});
  }

 private:
  std::size_t readers_ = 0;
};

TEST_F(TaskSurpriseTest, RetentionThatWasFasterEndsTheJobAndNamesTheRange_F56) {
  append({"a", "b", "c", "d"});
  database.set_claim("job", "fake", split, Claim{1, Generation{1}, Epoch{1}});
  source.trim(split, 3);
  start();
  const std::string text = step_to_failure();
  EXPECT_NE(text.find("offsets 1 to 2 were deleted"), std::string::npos) << text;
  EXPECT_NE(text.find("--set orders:0=3"), std::string::npos) << text;
  EXPECT_EQ(task->failure()->fault(), Fault::fatal);
  EXPECT_EQ(rows(), Rows{});
  EXPECT_EQ(ledger(), 1);
}

TEST_F(TaskSurpriseTest, GoesOnBehindWhatRetentionTookWhenTold) {
  settings.accept_lost_records = true;
  append({"a", "b", "c", "d"});
  database.set_claim("job", "fake", split, Claim{1, Generation{1}, Epoch{1}});
  source.trim(split, 3);
  start();
  run_to(4);
  EXPECT_EQ(rows(), Rows{"d"});
  EXPECT_TRUE(logged("offsets 1 to 2 were deleted"));
}

TEST_F(TaskSurpriseTest, ALogThatLostItsEndIsNamed_F62) {
  append({"a", "b"});
  database.set_claim("job", "fake", split, Claim{5, Generation{1}, Epoch{1}});
  start();
  const std::string text = step_to_failure();
  EXPECT_NE(text.find("has lost its end, offsets 2 to 4"), std::string::npos) << text;
  EXPECT_EQ(ledger(), 5);
}

TEST_F(TaskSurpriseTest, MovesTheLedgerBackToTheEndOfSuchALogWhenTold) {
  settings.accept_lost_records = true;
  append({"a", "b"});
  database.set_claim("job", "fake", split, Claim{5, Generation{1}, Epoch{1}});
  start();
  step_until([&] { return ledger() == 2; });
  append({"c"});
  run_to(3);
  EXPECT_EQ(rows(), Rows{"c"});
}

TEST_F(TaskSurpriseTest, ATopicThatWasCreatedAgainIsNoticedThoughItIsLongerNow_F32) {
  append({"a", "b"});
  start();
  run_to(2);
  stop();
  source.create_again("orders");
  append({"c", "d", "e"});
  start_again();
  const std::string text = step_to_failure();
  EXPECT_NE(text.find("created again"), std::string::npos) << text;
  EXPECT_EQ(rows(), (Rows{"a", "b"}));
  EXPECT_EQ(ledger(), 2);
}

TEST_F(TaskSurpriseTest, LoadsTheNewTopicFromItsFirstRecordWhenTold) {
  settings.accept_lost_records = true;
  append({"a", "b"});
  start();
  run_to(2);
  stop();
  source.create_again("orders");
  append({"c", "d", "e"});
  start_again();
  run_to(3);
  EXPECT_EQ(rows(), (Rows{"a", "b", "c", "d", "e"}));
}

// A new process that dies at whatever step of its start: the next one finds out again, or reads from the first record.
TEST_F(TaskSurpriseTest, LoadsAllOfTheNewTopicWhereverAStartDies) {
  settings.accept_lost_records = true;
  int topics = 0;
  std::size_t reader = 0;
  for (int passages = 0; passages < 3; ++passages) {
    for (const FakeStep at : {FakeStep::after_take_over, FakeStep::before_commit, FakeStep::after_commit}) {
      const Split only{"topic" + std::to_string(++topics), 0};
      database.create_table(only.topic, {{"value"}, {}, false, {}, {}});
      const auto run = [&](std::int64_t to) {
        source.assign(only, reader++);
        task = std::make_unique<Task>(settings, TaskParts{source, format, sink, clock, log(), progress});
        for (int turn = 0; task->step(Wish::go_on) && turn < 50 && ledger(only) != to; ++turn) {
        }
      };
      append(only, "a");
      append(only, "b");
      run(2);
      ASSERT_FALSE(task->step(Wish::abort));
      source.create_again(only.topic);
      for (const char* value : {"c", "d", "e"}) append(only, value);
      fail(at, Fault::fatal, 1, passages);
      run(3);
      task->step(Wish::abort);
      database.on_step({});
      run(3);
      EXPECT_EQ(rows(only.topic), (Rows{"a", "b", "c", "d", "e"}))
          << "step " << static_cast<int>(at) << ", passage " << passages;
      task->step(Wish::abort);
    }
  }
}

TEST_F(TaskSurpriseTest, ATopicThatIsCreatedAgainUnderARunningTaskIsReadFromItsFirstRecordWhenTold) {
  settings.accept_lost_records = true;
  append({"a", "b", "c"});
  start();
  run_to(3);
  source.create_again("orders");
  append({"d"});
  step_until([&] { return ledger() == 1; });
  EXPECT_EQ(rows(), (Rows{"a", "b", "c", "d"}));
}

TEST_F(TaskSurpriseTest, ADatabaseThatWentBackUnderARunningTask_F47) {
  append({"a", "b"});
  start();
  run_to(2);
  const Claim claim = database.claim("job", "fake", split).value();
  database.set_claim("job", "fake", split, Claim{1, claim.generation, claim.epoch});
  append({"c"});
  const std::string text = step_to_failure();
  EXPECT_NE(text.find("older copy"), std::string::npos) << text;
  EXPECT_EQ(ledger(), 1) << "nothing was written there";
}

TEST_F(TaskSurpriseTest, AnOwnerThatStillCommitsMeanwhileIsNoOlderCopy) {
  append({"a", "b", "c"});
  database.set_claim("job", "fake", split, Claim{1, Generation{1}, Epoch{1}});
  source.when_group_is_asked([&] {
    database.set_claim("job", "fake", split, Claim{2, Generation{1}, Epoch{2}});
    source.tell_group({{split, 2}});
  });
  start();
  run_to(3);
  EXPECT_EQ(rows(), Rows{"c"});
}

TEST_F(TaskSurpriseTest, GoesOnFromTheOlderCopyWhenTold) {
  settings.accept_lost_records = true;
  append({"a", "b"});
  start();
  run_to(2);
  const Claim claim = database.claim("job", "fake", split).value();
  // The rows went back with the ledger.
  database.create_table("orders", {{"value"}, {}, false, {}, {{"a"}}});
  database.set_claim("job", "fake", split, Claim{1, Generation{number(claim.generation) - 1}, claim.epoch});
  append({"c"});
  run_to(3);
  EXPECT_EQ(rows(), (Rows{"a", "b", "c"}));
}

TEST_F(TaskSurpriseTest, ALedgerThatWasLostBetweenTwoRuns_F51) {
  append({"a", "b"});
  start();
  run_to(2);
  stop();
  database.set_claim("job", "fake", split, std::nullopt);
  start_again();
  const std::string text = step_to_failure();
  EXPECT_NE(text.find("the ledger does not know orders-0"), std::string::npos) << text;
  EXPECT_NE(text.find("offsets 0 to 1"), std::string::npos) << text;
  EXPECT_EQ(rows(), (Rows{"a", "b"}));
}

}  // namespace

}  // namespace sluice
