#include "core/testing/fail_every_step.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <utility>

#include "core/runtime/sink_group.h"
#include "core/runtime/task.h"
#include "core/testing/conformance_case.h"
#include "core/testing/fake_format.h"
#include "core/testing/fake_source.h"
#include "core/testing/fake_store.h"
#include "core/testing/faulty_session.h"
#include "core/testing/manual_clock.h"
#include "sinks/sql/sql_sink.h"
#include "stores/table/checkpoint_table.h"
#include "stores/wal/wal_sink.h"

namespace sluice::testing {

namespace {

using std::chrono::milliseconds;

constexpr std::int64_t records = 7;  // of each of the two splits
constexpr int turns_max = 2'000;

const Log no_log = [](LogLevel, std::string_view, const LogFields&) {};

const std::string copies = "copies";  // where a second sink writes

// Which job is run.
struct Shape {
  Keyed keyed = Keyed::no;
  bool two_phase = false;
  bool two_sinks = false;
  bool wal = false;
  bool table = false;  // the checkpoints are in a table of the same server

  // The job that also shows what happens while its tables are made: no other shape matters to that.
  bool plain() const { return keyed == Keyed::no && !two_phase && !two_sinks && !wal; }
  std::vector<std::string> sinks() const {
    return two_sinks ? std::vector<std::string>{"main", "second"} : std::vector<std::string>{"main"};
  }
};

// One job from the first record to the last, through as many lives of its process as it takes.
class FailingJob {
 public:
  FailingJob(SqlUnderTest& sut, std::shared_ptr<FaultPlan> plan, const Shape& shape)
      : sut_(sut),
        plan_(std::move(plan)),
        shape_(shape),
        source_(FakeSource::Balance::automatic, [this](milliseconds wait) { clock_.advance(wait); }) {
    // Two splits, with holes in the middle and at the end.
    for (std::int64_t i = 0; i < records; ++i) {
      source_.append(split(0), "id=" + std::to_string(i) + ",note=a");
      source_.append(split(1), "id=" + std::to_string(records + i) + ",note=b");
      if (i % 4 == 3) source_.skip(split(1));
    }
    source_.skip(split(0), 2);
    std::string pattern = (std::filesystem::temp_directory_path() / "sluice-steps-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("mkdtemp failed");
    folder_ = pattern;
  }
  ~FailingJob() { std::filesystem::remove_all(folder_); }

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
    std::vector<std::unique_ptr<sql::SqlSink>> sinks;
    std::vector<GroupMember> members;
    for (const std::string& name : shape_.sinks()) {
      sinks.push_back(make_sink(name));
      members.push_back({name, sinks.back().get(), {}, sinks.back().get()});
    }
    FakeStore in_memory(shelf_, [&](const std::string& name, const std::function<void()>& call) {
      std::atomic<bool> broken{false};  // each call opens its files anew
      plan_->run(name, nullptr, broken, call);
    });
    CheckpointTable in_table({"job", 1, {}}, std::make_unique<FaultyDatabase>(sut_.database(), plan_), no_log);
    CheckpointStore& store = shape_.table ? static_cast<CheckpointStore&>(in_table) : in_memory;
    SinkGroup group(members, shape_.two_phase ? &store : nullptr, no_log);
    WalSink wal(*sinks.front(), folder_, "job", "main", no_log);
    Sink& sink = shape_.wal                             ? static_cast<Sink&>(wal)
                 : shape_.two_phase || shape_.two_sinks ? static_cast<Sink&>(group)
                                                        : *sinks.front();
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

  std::unique_ptr<sql::SqlSink> make_sink(const std::string& name) {
    TestJob job;
    job.sink = name;
    job.upsert = shape_.keyed == Keyed::yes;
    job.key = events_table(shape_.keyed).key;
    if (name != TestJob{}.sink) job.table = copies;
    sql::SqlSinkSettings settings = sql_settings(job);
    settings.topics = {events};
    return std::make_unique<sql::SqlSink>(settings, std::make_unique<FaultyDatabase>(sut_.database(), plan_), no_log);
  }

  bool prepare(Sink& sink) {
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
  Shape shape_;
  std::filesystem::path folder_;
  FakeShelf shelf_;
  ManualClock clock_;
  FakeSource source_;
  FakeFormat format_;
  bool done_ = false;
};

TestTable copies_table(Keyed keyed) {
  TestTable table = events_table(keyed);
  table.name = copies;
  return table;
}

std::multiset<std::int64_t> copied_ids(SqlUnderTest& sut, Keyed keyed) {
  std::multiset<std::int64_t> found;
  for (const auto& row : sut.rows(copies_table(keyed))) found.insert(std::stoll(row.front().value()));
  return found;
}

enum class Begin { without_tables, with_empty_tables };

void set_up(SqlUnderTest& sut, const Shape& shape, Begin begin) {
  if (begin == Begin::with_empty_tables) return sut.empty({events, copies});
  sut.clear();
  sut.create_table(events_table(shape.keyed));
  if (shape.two_sinks) sut.create_table(copies_table(shape.keyed));
}

// True: the fault fired, so that a later one may as well.
bool run_once(SqlUnderTest& sut, std::uint64_t call, FaultKind kind, const Shape& shape, Begin begin) {
  set_up(sut, shape, begin);
  const auto plan = std::make_shared<FaultPlan>(call, kind, [&](const std::string& id) { sut.end_session(id); });
  FailingJob job(sut, plan, shape);
  job.run();
  SCOPED_TRACE("call " + std::to_string(call) + ": " + plan->failed_call());
  EXPECT_EQ(visible_ids(sut, shape.keyed), ids(0, 2 * records));
  if (shape.two_sinks) {
    EXPECT_EQ(copied_ids(sut, shape.keyed), ids(0, 2 * records));
  }
  if (shape.two_phase) {
    EXPECT_EQ(sut.prepared(shape.sinks()), std::vector<std::string>{});
  }
  EXPECT_EQ(open_again(sut, shape.keyed)->positions(), job.ends());
  EXPECT_EQ(plan->late_calls(), 0U) << "a session was used after it had failed";
  return plan->fired();
}

// First the calls that make the recovery tables, then the others with tables that are there: making tables is what
// takes most of the time.
void fail_every_step(SqlUnderTest& sut, FaultKind kind, const Shape& shape) {
  const std::uint64_t first_calls = shape.plain() ? 40 : 0;
  if (!shape.plain()) {
    set_up(sut, shape, Begin::without_tables);
    open_again(sut, shape.keyed);
  }
  for (std::uint64_t call = 1; call <= first_calls; ++call) {
    ASSERT_TRUE(run_once(sut, call, kind, shape, Begin::without_tables));
    ASSERT_FALSE(::testing::Test::HasFailure()) << "at call " << call << " of a job that makes its tables";
  }
  std::uint64_t call = 1;
  while (run_once(sut, call, kind, shape, Begin::with_empty_tables)) {
    ASSERT_FALSE(::testing::Test::HasFailure()) << "at call " << call;
    ASSERT_LT(++call, 1'000U);
  }
  // Three epochs at the least: begin, rows, ledger, commit; beside the start and the end.
  EXPECT_GT(call, 25U) << "the job makes too few calls to prove anything";
}

struct FailTest {
  const char* name;
  FaultKind kind;
  Shape shape = {};
  Needs needs = Needs::nothing;
};

constexpr Shape upserts{.keyed = Keyed::yes};
constexpr Shape prepared{.two_phase = true};
constexpr Shape prepared_in_table{.two_phase = true, .table = true};
constexpr Shape wal{.wal = true};
constexpr Shape two_sinks{.two_sinks = true};
constexpr Shape two_prepared{.two_phase = true, .two_sinks = true};

// Tables without a key would show every row that is written twice. A death before a call is one after the call before,
// but for the first.
constexpr std::array tests{
    FailTest{"LostRequests", FaultKind::lost_request},
    FailTest{"LostAnswers", FaultKind::lost_answer},
    FailTest{"DeathsBeforeACall", FaultKind::death_before},
    FailTest{"DeathsAfterACall", FaultKind::death_after},
    FailTest{"LostRequestsOfUpserts", FaultKind::lost_request, upserts},
    FailTest{"LostAnswersOfUpserts", FaultKind::lost_answer, upserts},
    FailTest{"SessionsThatTheServerEnds", FaultKind::ended_session, {}, Needs::ended_sessions},
    FailTest{"SessionsThatTheServerEndsInUpserts", FaultKind::ended_session, upserts, Needs::ended_sessions},
    FailTest{"LostRequestsOfPreparedEpochs", FaultKind::lost_request, prepared},
    FailTest{"LostAnswersOfPreparedEpochs", FaultKind::lost_answer, prepared},
    FailTest{"DeathsAfterACallOfPreparedEpochs", FaultKind::death_after, prepared},
    FailTest{"LostRequestsOfCheckpointsInATable", FaultKind::lost_request, prepared_in_table},
    FailTest{"LostAnswersOfCheckpointsInATable", FaultKind::lost_answer, prepared_in_table},
    FailTest{"DeathsAfterACallOfCheckpointsInATable", FaultKind::death_after, prepared_in_table},
    FailTest{"LostRequestsOfEpochFiles", FaultKind::lost_request, wal},
    FailTest{"LostAnswersOfEpochFiles", FaultKind::lost_answer, wal},
    FailTest{"DeathsAfterACallOfEpochFiles", FaultKind::death_after, wal},
    FailTest{"LostAnswersOfTwoSinks", FaultKind::lost_answer, two_sinks, Needs::several_writers},
    FailTest{"DeathsAfterACallOfTwoSinks", FaultKind::death_after, two_sinks, Needs::several_writers},
    FailTest{"LostAnswersOfTwoPreparedSinks", FaultKind::lost_answer, two_prepared},
    FailTest{"DeathsAfterACallOfTwoPreparedSinks", FaultKind::death_after, two_prepared},
};

}  // namespace

bool add_fail_every_step(const std::string& name, const SqlMaker& maker) {
  for (const FailTest& test : tests) {
    if (test.needs == Needs::ended_sessions && !maker.capabilities.ends_sessions) continue;
    if (test.needs == Needs::several_writers && !maker.capabilities.several_writers) continue;
    if (test.shape.two_phase && !maker.capabilities.two_phase) continue;
    register_test("FailEveryStep/" + name, test.name, maker.missing, [&test, maker] {
      const auto sut = maker.make();
      fail_every_step(*sut, test.kind, test.shape);
    });
  }
  return true;
}

}  // namespace sluice::testing
