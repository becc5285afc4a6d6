#include "core/testing/checkpoint_table_conformance.h"

#include <gtest/gtest.h>

#include <array>
#include <utility>

#include "core/testing/conformance_case.h"
#include "core/testing/faulty_session.h"
#include "stores/table/checkpoint_table.h"

namespace sluice::testing {

namespace {

const Log no_log = [](LogLevel, std::string_view, const LogFields&) {};

Checkpoint checkpoint(std::int64_t position) {
  return {Epoch{7}, {{Split{"orders", 2}, position}}, {{"main", "sluice/job/main/0/1/9"}}};
}

std::unique_ptr<CheckpointTable> open(SqlUnderTest& sut, std::size_t tasks = 2, const std::string& job = "job") {
  return std::make_unique<CheckpointTable>(CheckpointTableSettings{job, tasks, {}}, sut.database(), no_log);
}

void the_newest_of_each_task_is_kept(SqlUnderTest& sut) {
  const auto store = open(sut);
  EXPECT_EQ(store->raise(), Generation{1});
  EXPECT_TRUE(store->newest().empty());
  store->publish(0, checkpoint(5));
  store->publish(1, checkpoint(6));
  store->publish(0, checkpoint(8));
  EXPECT_EQ(store->newest(), (std::map<std::size_t, Checkpoint>{{0, checkpoint(8)}, {1, checkpoint(6)}}));
}

void the_next_process_finds_it_and_the_last_one_is_fenced(SqlUnderTest& sut) {
  const auto before = open(sut);
  before->raise();
  before->publish(0, checkpoint(5));
  const auto after = open(sut, 3);
  EXPECT_EQ(after->raise(), Generation{2});
  EXPECT_EQ(after->newest().at(0), checkpoint(5));
  expect_fault(Fault::fenced, [&] { before->publish(0, checkpoint(9)); });
  expect_fault(Fault::fenced, [&] { before->newest(); });
  EXPECT_EQ(after->newest().at(0), checkpoint(5)) << "what a fenced process wrote decides nothing";
  after->publish(2, checkpoint(1));
  EXPECT_EQ(open(sut)->raise(), Generation{3}) << "also with fewer tasks than before";
  EXPECT_EQ(open(sut)->newest().at(2), checkpoint(1));
}

void jobs_do_not_see_each_other(SqlUnderTest& sut) {
  const auto one = open(sut);
  const auto other = open(sut, 1, "other");
  one->raise();
  EXPECT_EQ(other->raise(), Generation{1});
  other->publish(0, checkpoint(1));
  EXPECT_TRUE(one->newest().empty());
}

void what_this_program_did_not_write_is_not_read(SqlUnderTest& sut) {
  const auto store = open(sut);
  store->raise();
  store->publish(0, checkpoint(5));
  sut.database()->connect()->execute("UPDATE sluice_checkpoints SET checkpoint = '{}' WHERE task = 0");
  expect_fault(Fault::fatal, [&] { store->newest(); });
}

// A statement whose answer was lost may come to the server at any later time. Whatever the table said to those who
// asked after the loss stays true.
void a_checkpoint_that_comes_late_decides_nothing(SqlUnderTest& sut) {
  bool seen = false;
  for (std::uint64_t call = 1; !seen; ++call) {
    ASSERT_LT(call, 50U) << "no publication ever failed";
    sut.empty({});
    const auto plan = std::make_shared<FaultPlan>(call, FaultKind::lost_request);
    CheckpointTable store({"job", 1, {}}, std::make_unique<FaultyDatabase>(sut.database(), plan), no_log);
    if (error_of([&] { store.raise(); })) continue;
    if (error_of([&] { store.publish(0, checkpoint(1)); })) continue;
    if (!error_of([&] { store.publish(0, checkpoint(2)); })) continue;
    seen = true;
    EXPECT_EQ(store.newest().at(0), checkpoint(1));
    // As publish() had sent it.
    const auto late = sut.database()->connect();
    EXPECT_EQ(late->execute("UPDATE sluice_checkpoints SET checkpoint = 'late', sequence = 2 WHERE job = 'job' AND "
                            "task = 0 AND generation = 1 AND sequence = 1"),
              0U);
    store.publish(0, checkpoint(3));
    EXPECT_EQ(store.newest().at(0), checkpoint(3));
  }
}

struct TableTest {
  const char* name;
  void (*run)(SqlUnderTest&);
};

constexpr std::array tests{
    TableTest{"TheNewestOfEachTaskIsKept", the_newest_of_each_task_is_kept},
    TableTest{"TheNextProcessFindsItAndTheLastOneIsFenced", the_next_process_finds_it_and_the_last_one_is_fenced},
    TableTest{"JobsDoNotSeeEachOther", jobs_do_not_see_each_other},
    TableTest{"WhatThisProgramDidNotWriteIsNotRead", what_this_program_did_not_write_is_not_read},
    TableTest{"ACheckpointThatComesLateDecidesNothing", a_checkpoint_that_comes_late_decides_nothing},
};

}  // namespace

bool add_checkpoint_table_conformance(const std::string& name, const SqlMaker& maker) {
  for (const TableTest& test : tests) {
    register_test("CheckpointTable/" + name, test.name, maker.missing, [&test, maker] {
      const auto sut = maker.make();
      sut->clear();
      open_events(*sut);  // which makes the table
      test.run(*sut);
    });
  }
  return true;
}

}  // namespace sluice::testing
