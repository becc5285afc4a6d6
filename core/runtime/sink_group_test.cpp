// One job, two sinks with a ledger each, and records that one of them cannot take.
#include "core/runtime/sink_group.h"

#include <algorithm>

#include "core/runtime/task_fixture.h"

namespace sluice {

namespace {

testing::FakeTable table_that_refuses(const std::string& value) {
  return {{"value"}, {}, false, [value](const testing::FakeRow& row) { return row.front() == value; }, {}};
}

class SinkGroupTest : public TaskTest {
 protected:
  SinkGroupTest()
      : second(second_database, "job", "second"),
        group({{"first", &sink, {}, nullptr}, {"second", &second, {}, nullptr}}, nullptr, log()) {
    settings.on_bad_record = OnBadRecord::set_aside;
    database.create_table("orders", table_that_refuses("only second"));
    second_database.create_table("orders", table_that_refuses("only first"));
  }

  ~SinkGroupTest() override { task.reset(); }  // before what it borrows

  void start() {
    task = std::make_unique<Task>(settings, TaskParts{source, format, group, clock, log(), progress});
    step();
  }
  void run_to(std::int64_t position) {
    step_until([&] {
      const auto claim = second_database.claim("job", "second", split);
      return ledger() == position && claim && claim->position == position;
    });
  }
  std::vector<std::string> second_rows() const {
    std::vector<std::string> values;
    for (const auto& row : second_database.rows("orders")) values.push_back(row.front().value_or("NULL"));
    return values;
  }
  static std::vector<std::int64_t> letters(const testing::FakeDatabase& of) {
    std::vector<std::int64_t> offsets;
    for (const DeadLetter& letter : of.letters()) offsets.push_back(letter.offset);
    return offsets;
  }

  using Offsets = std::vector<std::int64_t>;
  testing::FakeDatabase second_database;
  testing::FakeSink second;
  SinkGroup group;
};

TEST_F(SinkGroupTest, ARecordThatOneSinkRefusesIsARowOfTheOther) {
  append({"a", "only second", "b", "only first", "c"});
  start();
  run_to(5);
  EXPECT_EQ(rows(), (Rows{"a", "b", "only first", "c"}));
  EXPECT_EQ(second_rows(), (Rows{"a", "only second", "b", "c"}));
  EXPECT_EQ(letters(database), Offsets{1});
  EXPECT_EQ(letters(second_database), Offsets{3});
  EXPECT_EQ(progress.letters, 2U);
}

TEST_F(SinkGroupTest, ARecordThatDoesNotDecodeIsALetterOfEverySink) {
  append({"a"});
  source.append(split, "garbage");
  start();
  run_to(2);
  EXPECT_EQ(letters(database), Offsets{1});
  EXPECT_EQ(letters(second_database), Offsets{1});
  EXPECT_EQ(progress.letters, 1U) << "it is one record";
  EXPECT_EQ(progress.rows, 1U);
}

TEST_F(SinkGroupTest, LettersOfASinkThatIsAheadAreNotWrittenAgain) {
  source.append(split, "garbage");
  append({"a", "only second"});
  start();
  // The first one commits, the second one does not.
  const auto left = std::make_shared<int>(1);
  second_database.on_step([left](FakeStep now) {
    if (now == FakeStep::before_commit && (*left)-- > 0) throw Error(Fault::retryable, "the test let a commit fail");
  });
  const auto writes = std::make_shared<int>(0);
  database.on_step([this, writes](FakeStep now) {
    if (now == FakeStep::write && ledger() == 3) ++*writes;
  });
  run_to(3);
  EXPECT_EQ(*writes, 0) << "it was given what it has";
  EXPECT_EQ(letters(database), (Offsets{0, 2}));
  EXPECT_EQ(letters(second_database), Offsets{0});
  EXPECT_EQ(rows(), Rows{"a"});
  EXPECT_EQ(second_rows(), (Rows{"a", "only second"}));
}

// Each sink has a position in the former topic; the added one, which has none, must not hide that.
TEST_F(SinkGroupTest, ATopicThatWasCreatedAgainIsSeenThoughASinkIsNew) {
  append({"a", "b", "c"});
  start();
  run_to(3);
  EXPECT_FALSE(task->step(Wish::finish));
  source.create_again("orders");
  append({"d"});
  testing::FakeDatabase third_database;
  third_database.create_table("orders", {{"value"}, {}, false, {}, {}});
  testing::FakeSink third(third_database, "job", "third");
  SinkGroup more({{"first", &sink, {}, nullptr}, {"second", &second, {}, nullptr}, {"third", &third, {}, nullptr}},
                 nullptr, log());
  source.assign(split, 1);
  task = std::make_unique<Task>(settings, TaskParts{source, format, more, clock, log(), progress});
  EXPECT_NE(step_to_failure().find("was deleted and created again"), std::string::npos) << failure();

  settings.accept_lost_records = true;
  task.reset();
  source.assign(split, 2);
  task = std::make_unique<Task>(settings, TaskParts{source, format, more, clock, log(), progress});
  step_until([&] { return !third_database.rows("orders").empty(); });
  EXPECT_EQ(rows(), (Rows{"a", "b", "c", "d"}));
  EXPECT_EQ(second_rows(), (Rows{"a", "b", "c", "d"}));
  task.reset();
}

// A start at the end of the log, which has moved on when the second sink is taken over at last.
TEST_F(SinkGroupTest, WhereASplitBeginsIsDecidedOnceForAllSinks) {
  append({"before"});
  source.start_at(split, 1);
  bool fails = true;
  second_database.on_step([&](FakeStep now) {
    if (now != FakeStep::before_take_over || !std::exchange(fails, false)) return;
    append({"meanwhile"});
    source.start_at(split, 2);
    throw Error(Fault::retryable, "the second database is away");
  });
  start();
  append({"after"});
  run_to(3);
  EXPECT_EQ(rows(), (Rows{"meanwhile", "after"}));
  EXPECT_EQ(second_rows(), (Rows{"meanwhile", "after"}));
}

TEST_F(SinkGroupTest, ARecordThatMustNotBeBadIsNamedWithItsSink) {
  settings.on_bad_record = OnBadRecord::stop;
  append({"a", "only first"});
  start();
  const std::string text = step_to_failure();
  EXPECT_NE(text.find("orders-0@1 in sink second: "), std::string::npos) << text;
}

}  // namespace

}  // namespace sluice
