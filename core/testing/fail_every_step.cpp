#include "core/testing/fail_every_step.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <utility>

#include "core/runtime/task.h"
#include "core/testing/conformance_case.h"
#include "core/testing/fake_format.h"
#include "core/testing/fake_source.h"
#include "core/testing/faulty_session.h"
#include "core/testing/manual_clock.h"
#include "sinks/sql/sql_sink.h"

namespace sluice::testing {

namespace {

using std::chrono::milliseconds;

constexpr std::int64_t records = 9;  // of each of the two splits
constexpr int turns_max = 2'000;

const Log no_log = [](LogLevel, std::string_view, const LogFields&) {};

// One job from the first record to the last, through as many lives of its process as it takes.
class FailingJob {
 public:
  FailingJob(SqlUnderTest& sut, std::shared_ptr<FaultPlan> plan, Keyed keyed)
      : sut_(sut),
        plan_(std::move(plan)),
        keyed_(keyed),
        source_(FakeSource::Balance::automatic, [this](milliseconds wait) { clock_.advance(wait); }) {
    // Two splits, with holes in the middle and at the end.
    for (std::int64_t i = 0; i < records; ++i) {
      source_.append(split(0), "id=" + std::to_string(i) + ",note=a");
      source_.append(split(1), "id=" + std::to_string(records + i) + ",note=b");
      if (i % 4 == 3) source_.skip(split(1));
    }
    source_.skip(split(0), 2);
  }

  void run() {
    for (int life = 0; life < 3 && !done_; ++life) {
      try {
        live();
      } catch (const ProcessDied&) {
        // On to the next life.
      }
    }
    EXPECT_TRUE(done_) << "the job did not come to its end";
  }

  Positions ends() { return source_.end_positions(); }

 private:
  void live() {
    TestJob job;
    job.upsert = keyed_ == Keyed::yes;
    job.key = events_table(keyed_).key;
    sql::SqlSinkSettings settings = sql_settings(job);
    settings.topics = {events};
    sql::SqlSink sink(settings, std::make_unique<FaultyDatabase>(sut_.database(), plan_), no_log);
    if (!prepare(sink)) return;
    TaskProgress progress;
    TaskSettings task_settings;
    task_settings.epochs.rows_max = 5;
    task_settings.restart.strategy = RestartSettings::Strategy::fixed_delay;
    task_settings.restart.initial = milliseconds(20);
    task_settings.batch_rows_max = 4;
    task_settings.ends = source_.end_positions();
    Task task(task_settings, TaskParts{source_, format_, sink, clock_, no_log, progress});
    for (int turn = 0; turn < turns_max; ++turn) {
      if (task.step(task.drained() ? Task::Wish::finish : Task::Wish::go_on)) continue;
      // The last commit stands, but handing the splits back may have failed: then there is nothing left to replay.
      const bool leaving = task.failure() && task.drained() && task.failure()->fault() != Fault::fenced;
      if (task.failure() && !leaving) ADD_FAILURE() << "the task gave up: " << task.failure()->what();
      done_ = true;
      return;
    }
  }

  bool prepare(sql::SqlSink& sink) {
    for (int attempt = 0; attempt < 3; ++attempt) {
      const auto error = error_of([&] { sink.prepare(true); });
      if (!error) return true;
      if (error->fault() != Fault::retryable && error->fault() != Fault::in_doubt) {
        ADD_FAILURE() << "prepare gave up: " << error->what();
        return false;
      }
    }
    ADD_FAILURE() << "prepare failed again and again";
    return false;
  }

  SqlUnderTest& sut_;
  std::shared_ptr<FaultPlan> plan_;
  Keyed keyed_;
  ManualClock clock_;
  FakeSource source_;
  FakeFormat format_;
  bool done_ = false;
};

// True: the fault fired, so that a later one may as well.
bool run_once(SqlUnderTest& sut, std::uint64_t call, FaultKind kind, Keyed keyed) {
  sut.clear();
  sut.create_table(events_table(keyed));
  const auto plan = std::make_shared<FaultPlan>(call, kind, [&](const std::string& id) { sut.end_session(id); });
  FailingJob job(sut, plan, keyed);
  job.run();
  SCOPED_TRACE("call " + std::to_string(call) + ": " + plan->failed_call());
  EXPECT_EQ(visible_ids(sut, keyed), ids(0, 2 * records));
  EXPECT_EQ(open_again(sut, keyed)->positions(), job.ends());
  EXPECT_EQ(plan->late_calls(), 0U) << "a session was used after it had failed";
  return plan->fired();
}

void fail_every_step(SqlUnderTest& sut, FaultKind kind, Keyed keyed) {
  std::uint64_t call = 1;
  while (run_once(sut, call, kind, keyed)) {
    ASSERT_FALSE(::testing::Test::HasFailure()) << "at call " << call;
    ASSERT_LT(++call, 1'000U);
  }
  // Three epochs at the least: begin, rows, ledger, commit; beside the start and the end.
  EXPECT_GT(call, 25U) << "the job makes too few calls to prove anything";
}

struct FailTest {
  const char* name;
  FaultKind kind;
  Keyed keyed = Keyed::no;
  Needs needs = Needs::nothing;
};

// Tables without a key would show every row that is written twice.
constexpr std::array tests{
    FailTest{"LostRequests", FaultKind::lost_request},
    FailTest{"LostAnswers", FaultKind::lost_answer},
    FailTest{"DeathsBeforeACall", FaultKind::death_before},
    FailTest{"DeathsAfterACall", FaultKind::death_after},
    FailTest{"LostRequestsOfUpserts", FaultKind::lost_request, Keyed::yes},
    FailTest{"LostAnswersOfUpserts", FaultKind::lost_answer, Keyed::yes},
    FailTest{"SessionsThatTheServerEnds", FaultKind::ended_session, Keyed::no, Needs::ended_sessions},
    FailTest{"SessionsThatTheServerEndsInUpserts", FaultKind::ended_session, Keyed::yes, Needs::ended_sessions},
};

class FailBody : public ::testing::Test {
 public:
  FailBody(const FailTest& test, SqlMaker maker) : test_(test), maker_(std::move(maker)) {}

  void TestBody() override {
    if (!maker_.missing.empty()) {
      if (std::getenv("SLUICE_REQUIRE_SERVICES") != nullptr) FAIL() << maker_.missing;
      GTEST_SKIP() << maker_.missing;
    }
    const auto sut = maker_.make();
    fail_every_step(*sut, test_.kind, test_.keyed);
  }

 private:
  const FailTest& test_;
  SqlMaker maker_;
};

}  // namespace

bool add_fail_every_step(const std::string& name, const SqlMaker& maker) {
  for (const FailTest& test : tests) {
    if (test.needs == Needs::ended_sessions && !maker.capabilities.ends_sessions) continue;
    ::testing::RegisterTest(("FailEveryStep/" + name).c_str(), test.name, nullptr, nullptr, __FILE__, __LINE__,
                            [&test, maker]() -> ::testing::Test* { return new FailBody(test, maker); });
  }
  return true;
}

}  // namespace sluice::testing
