// Whole jobs: tasks on threads of their own over a group that balances itself. Nothing sleeps: what a test waits for is
// an event in the fakes.
#include "core/runtime/job.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <latch>
#include <map>
#include <string>
#include <thread>

#include "core/testing/fake_format.h"
#include "core/testing/fake_sink.h"
#include "core/testing/fake_source.h"

namespace sluice {

namespace {

using std::chrono::milliseconds;
using testing::FakeStep;

// A sink whose server is not there at first.
class LateSink final : public Sink {
 public:
  explicit LateSink(Sink& inner) : inner_(inner) {}

  void prepare(bool migrate) override {
    ++prepared;
    if (on_prepare) on_prepare();
    inner_.prepare(migrate);
  }
  RowShape bind(const std::string& topic, const std::function<std::vector<Field>()>& infer) override {
    return inner_.bind(topic, infer);
  }
  std::unique_ptr<SinkWriter> open_writer(std::size_t task) override { return inner_.open_writer(task); }
  Positions positions() override {
    if (positions_asked++ < positions_failing) throw Error(Fault::retryable, "the server is away");
    return inner_.positions();
  }

  std::function<void()> on_prepare;
  int prepared = 0;
  int positions_asked = 0;
  int positions_failing = 0;

 private:
  Sink& inner_;
};

class JobTest : public ::testing::Test {
 protected:
  JobTest() : fake(database, "job"), sink(fake) {
    database.create_table("orders", {{"value"}, {}, false, {}, {}});
    settings.restart.initial = milliseconds(1);
    settings.epochs.min_pause = milliseconds(0);
    settings.epochs.rows_max = 20;
  }

  void append(std::int32_t partitions, int records) {
    for (std::int32_t partition = 0; partition < partitions; ++partition) {
      for (int record = 0; record < records; ++record) {
        const Split split{"orders", partition};
        source.append(split, "value=" + to_string(split, written[split]++));
      }
    }
  }
  std::optional<Error> run() {
    Job job(settings, source, format, sink, clock, [](LogLevel, std::string_view, const LogFields&) {});
    running = &job;
    auto failed = job.run();
    running = nullptr;
    counted = job.progress();
    return failed;
  }

  // The table holds exactly what is before the ledger's positions.
  void expect_exactly_once() {
    std::map<std::string, int> expected;
    for (const auto& [split, position] : fake.positions()) {
      for (std::int64_t offset = 0; offset < position; ++offset) ++expected[to_string(split, offset)];
    }
    std::map<std::string, int> found;
    for (const auto& row : database.rows("orders")) ++found[row.front().value_or("NULL")];
    EXPECT_EQ(found, expected);
  }
  void expect_released() {
    for (const auto& [split, position] : fake.positions())
      EXPECT_EQ(database.owner("job", "fake", split), std::nullopt);
  }

  testing::FakeSource source;
  testing::FakeDatabase database;
  testing::FakeSink fake;
  LateSink sink;
  testing::FakeFormat format;
  SystemClock clock;
  JobSettings settings;
  Job* running = nullptr;
  Progress counted;
  std::map<Split, std::int64_t> written;
};

class JobOfTasks : public JobTest, public ::testing::WithParamInterface<std::size_t> {
 protected:
  JobOfTasks() { settings.parallelism = GetParam(); }
};

TEST_P(JobOfTasks, BoundedReadsToTheEndAndNoFurther) {
  settings.bounded = true;
  append(5, 100);
  const Positions ends = source.end_positions();
  std::atomic<bool> late{false};
  database.on_step([&](FakeStep now) {
    if (now == FakeStep::write && !late.exchange(true)) append(5, 50);
  });
  EXPECT_EQ(run(), std::nullopt);
  ASSERT_TRUE(late);
  EXPECT_EQ(fake.positions(), ends);
  EXPECT_EQ(database.rows("orders").size(), 500U);
  expect_exactly_once();
  expect_released();
  EXPECT_EQ(counted.rows, 500U);
  EXPECT_EQ(counted.tasks, GetParam());
  EXPECT_GE(counted.epochs, 1U);
}

TEST_P(JobOfTasks, StopsInOrder) {
  append(4, 1000);
  std::atomic<int> commits{0};
  database.on_step([&](FakeStep now) {
    if (now == FakeStep::after_commit && ++commits == 3) running->stop();
  });
  EXPECT_EQ(run(), std::nullopt);
  EXPECT_GE(commits, 3);
  expect_exactly_once();
  expect_released();
  EXPECT_TRUE(source.open_readers().empty());
  EXPECT_EQ(counted.rows, database.rows("orders").size());
}

TEST_P(JobOfTasks, OneTasksFailureEndsAll) {
  append(4, 1000);
  std::atomic<int> writes{0};
  database.on_step([&](FakeStep now) {
    if (now == FakeStep::write && ++writes == 3) throw Error(Fault::fatal, "the table is gone");
  });
  const auto failed = run();
  ASSERT_TRUE(failed);
  EXPECT_EQ(failed->fault(), Fault::fatal);
  EXPECT_STREQ(failed->what(), "the table is gone");
  EXPECT_TRUE(source.open_readers().empty());
  expect_exactly_once();
}

TEST_P(JobOfTasks, GetsOverFailuresOfAnyTask) {
  settings.bounded = true;
  append(4, 1000);
  std::atomic<int> calls{0};
  std::atomic<int> failures{0};
  database.on_step([&](FakeStep now) {
    if (++calls % 13 != 0 || now == FakeStep::before_release || now == FakeStep::after_release) return;
    ++failures;
    const bool after = now == FakeStep::after_commit || now == FakeStep::after_take_over;
    throw Error(after ? Fault::in_doubt : Fault::retryable, "trouble");
  });
  EXPECT_EQ(run(), std::nullopt);
  EXPECT_GE(failures, 1);
  EXPECT_EQ(database.rows("orders").size(), 4000U);
  expect_exactly_once();
}

INSTANTIATE_TEST_SUITE_P(Tasks, JobOfTasks, ::testing::Values(1, 2, 3));

TEST_F(JobTest, BoundedEndsAtOnceWhenThereIsNothing) {
  settings.bounded = true;
  EXPECT_EQ(run(), std::nullopt);
  source.skip({"orders", 0}, 0);  // a partition that was never written to
  EXPECT_EQ(run(), std::nullopt);
}

TEST_F(JobTest, BoundedEndsWhenTheLedgerIsThereAlready) {
  settings.bounded = true;
  append(2, 10);
  EXPECT_EQ(run(), std::nullopt);
  EXPECT_EQ(run(), std::nullopt);
  EXPECT_EQ(database.rows("orders").size(), 20U);
  EXPECT_EQ(counted.rows, 0U);
}

TEST_F(JobTest, BoundedAsksTheLedgerAgainWhenItDoesNotAnswer) {
  settings.bounded = true;
  append(2, 10);
  sink.positions_failing = 1;
  EXPECT_EQ(run(), std::nullopt);
  EXPECT_GE(sink.positions_asked, 2);
  EXPECT_EQ(database.rows("orders").size(), 20U);
}

TEST_F(JobTest, StoppedBeforeItRunsItDoesNothing) {
  append(1, 10);
  Job job(settings, source, format, sink, clock, [](LogLevel, std::string_view, const LogFields&) {});
  job.stop();
  EXPECT_EQ(job.run(), std::nullopt);
  EXPECT_EQ(fake.positions(), Positions{});
}

TEST_F(JobTest, StopsFromAnotherThread) {
  append(1, 10);
  std::latch committed(1);
  std::atomic<bool> seen{false};
  database.on_step([&](FakeStep now) {
    if (now == FakeStep::after_commit && !seen.exchange(true)) committed.count_down();
  });
  Job job(settings, source, format, sink, clock, [](LogLevel, std::string_view, const LogFields&) {});
  std::thread user([&] {
    committed.wait();
    job.progress();
    job.stop();
  });
  EXPECT_EQ(job.run(), std::nullopt);
  user.join();
  expect_exactly_once();
}

TEST_F(JobTest, FencedIsTheReasonThatCounts) {
  settings.parallelism = 2;
  testing::FakeSource shared(testing::FakeSource::Balance::by_test);
  for (const int number : {0, 1}) {
    const Split split{"orders", number};
    shared.append(split, "value=one");
    shared.assign(split, static_cast<std::size_t>(number));
  }
  std::latch both(2);  // each task has a split of its own, so that each comes to its commit
  std::atomic<int> turn{0};
  database.on_step([&](FakeStep now) {
    if (now != FakeStep::before_commit) return;
    both.arrive_and_wait();
    throw Error(turn++ == 0 ? Fault::fatal : Fault::fenced, "trouble");
  });
  Job job(settings, shared, format, sink, clock, [](LogLevel, std::string_view, const LogFields&) {});
  const auto failed = job.run();
  ASSERT_TRUE(failed);
  EXPECT_EQ(failed->fault(), Fault::fenced);
}

TEST_F(JobTest, WaitsForAServerThatIsNotUpYet) {
  settings.bounded = true;
  append(1, 10);
  sink.on_prepare = [&] {
    if (sink.prepared < 3) throw Error(Fault::retryable, "nobody listens there");
  };
  EXPECT_EQ(run(), std::nullopt);
  EXPECT_EQ(sink.prepared, 3);
  EXPECT_EQ(database.rows("orders").size(), 10U);
}

TEST_F(JobTest, DoesNotWaitForWhatNoWaitingMends) {
  sink.on_prepare = [] { throw Error(Fault::fatal, "no right to create tables"); };
  const auto failed = run();
  ASSERT_TRUE(failed);
  EXPECT_EQ(failed->fault(), Fault::fatal);
  EXPECT_EQ(sink.prepared, 1);
}

TEST_F(JobTest, WaitsNoLongerThanItsBudget) {
  settings.restart.attempts = 2;
  sink.on_prepare = [] { throw Error(Fault::retryable, "nobody listens there"); };
  const auto failed = run();
  ASSERT_TRUE(failed);
  EXPECT_EQ(failed->fault(), Fault::retryable);
  EXPECT_EQ(sink.prepared, 3);
}

TEST_F(JobTest, StopsWhileItWaitsForAServer) {
  settings.restart.initial = settings.restart.delay_max = std::chrono::hours(1);
  sink.on_prepare = [&] {
    running->stop();
    throw Error(Fault::retryable, "nobody listens there");
  };
  EXPECT_EQ(run(), std::nullopt);
  EXPECT_EQ(sink.prepared, 1);
}

}  // namespace

}  // namespace sluice
