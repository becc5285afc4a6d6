#include "core/protocol/epoch_machine.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "core/model/error.h"

namespace sluice {

namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

const Split first{"orders", 0};
const Split second{"orders", 1};
const Split third{"orders", 2};

EpochMachine::Time at(milliseconds since_start) {
  return EpochMachine::Time(std::chrono::hours(1)) + since_start;
}

Claim claim(std::int64_t position, std::uint64_t generation = 1, std::uint64_t epoch = 0) {
  return {position, Generation{generation}, Epoch{epoch}};
}

EpochLimits limits() {
  EpochLimits limits;
  limits.interval = milliseconds(1000);
  limits.min_pause = milliseconds(50);
  limits.rows_max = 100;
  limits.bytes_max = 1000;
  return limits;
}

// Takes one record of the first split in, so that an epoch is open.
void open_epoch(EpochMachine& machine, EpochMachine::Time now, std::uint64_t rows = 1, std::uint64_t bytes = 1) {
  OwnedSplit* const split = machine.find(first);
  ASSERT_NE(split, nullptr);
  ASSERT_TRUE(split->accept(split->next()));
  machine.consumed(rows, bytes, now);
  ASSERT_TRUE(machine.open());
}

void commit(EpochMachine& machine, EpochMachine::Time now) {
  machine.committed(machine.cut(), now);
}

void expect_broken(const std::function<void()>& call, const std::string& rule) {
  try {
    call();
    FAIL() << "went on although this rule was broken: " << rule;
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::fatal);
    EXPECT_NE(std::string(error.what()).find(rule), std::string::npos) << error.what();
  }
}

class EpochMachineTest : public testing::Test {
 protected:
  EpochMachineTest() : machine(limits()) {}
  // What holds for every epoch but the first, long before the time 0.
  void own_and_commit_once() {
    machine.own({{first, claim(10)}});
    open_epoch(machine, at(-milliseconds(60'000)));
    commit(machine, at(-milliseconds(60'000)));
  }
  EpochMachine machine;
};

TEST_F(EpochMachineTest, TakesNoMoreRowsThanItsBound) {
  machine.own({{first, claim(10)}});
  EXPECT_EQ(machine.rows_left(1000), 100U);
  EXPECT_EQ(machine.rows_left(7), 7U);
  open_epoch(machine, at(milliseconds(0)), 98);
  EXPECT_EQ(machine.rows_left(1000), 2U);
  open_epoch(machine, at(milliseconds(0)), 5);
  EXPECT_EQ(machine.rows_left(1000), 1U) << "a reader is asked for at least one";
}

TEST_F(EpochMachineTest, FindsOnlyWhatIsOwned) {
  machine.own({{first, claim(10)}, {second, claim(20)}});
  EXPECT_NE(machine.find(first), nullptr);
  EXPECT_EQ(machine.find(third), nullptr);
  machine.disown({first, third});
  EXPECT_EQ(machine.find(first), nullptr);
  EXPECT_EQ(machine.claims(), (Claims{{second, claim(20)}}));
  EXPECT_EQ(machine.ledger_positions(), (Positions{{second, 20}}));
}

TEST_F(EpochMachineTest, OpensWithTheFirstMoveOnly) {
  machine.own({{first, claim(10)}});
  EXPECT_FALSE(machine.find(first)->accept(3));
  machine.consumed(0, 0, at(milliseconds(0)));
  EXPECT_FALSE(machine.open()) << "idle jobs make no transactions";
  machine.find(first)->reach(11);
  machine.consumed(0, 0, at(milliseconds(0)));
  EXPECT_TRUE(machine.open()) << "holes move the ledger, too";
}

TEST_F(EpochMachineTest, TellsWhatTheLedgerSaysAndWhatTheEpochHasReached) {
  machine.own({{first, claim(10)}, {second, claim(20)}});
  open_epoch(machine, at(milliseconds(0)));
  EXPECT_EQ(machine.ledger_positions(), (Positions{{first, 10}, {second, 20}}));
  EXPECT_EQ(machine.reached(), (Positions{{first, 11}, {second, 20}}));
}

TEST_F(EpochMachineTest, CutsTheMovedSplitsOnly) {
  machine.own({{first, claim(10, 3)}, {second, claim(20, 4)}, {third, claim(30, 5)}});
  machine.find(third)->reach(33);
  open_epoch(machine, at(milliseconds(0)));
  const Cut cut = machine.cut();
  EXPECT_EQ(cut.moves, (std::vector<Move>{{first, Generation{3}, 10, 11}, {third, Generation{5}, 30, 33}}));
  EXPECT_FALSE(machine.open());
}

TEST_F(EpochMachineTest, GoesOnFromWhatWasCommitted) {
  machine.own({{first, claim(10)}});
  open_epoch(machine, at(milliseconds(0)));
  commit(machine, at(milliseconds(1)));
  EXPECT_EQ(machine.ledger_positions(), (Positions{{first, 11}}));
  EXPECT_FALSE(machine.find(first)->moved());
  EXPECT_EQ(machine.rows(), 0U);
  EXPECT_EQ(machine.bytes(), 0U);
  open_epoch(machine, at(milliseconds(2)));
  EXPECT_EQ(machine.cut().moves, (std::vector<Move>{{first, Generation{1}, 11, 12}}));
}

TEST_F(EpochMachineTest, TheFirstEpochIsAQuarterShorter) {
  machine.own({{first, claim(10)}});
  open_epoch(machine, at(milliseconds(0)));
  EXPECT_EQ(machine.patience(at(milliseconds(0)), milliseconds(5000)), milliseconds(750));
  EXPECT_FALSE(machine.due(at(milliseconds(749)), false));
  EXPECT_TRUE(machine.due(at(milliseconds(750)), false));
  commit(machine, at(milliseconds(750)));
  open_epoch(machine, at(milliseconds(800)));
  EXPECT_FALSE(machine.due(at(milliseconds(1799)), false));
  EXPECT_TRUE(machine.due(at(milliseconds(1800)), false));
}

TEST_F(EpochMachineTest, GoesBackToTheLedgerWhenRolledBack) {
  machine.own({{first, claim(10)}});
  open_epoch(machine, at(milliseconds(0)), 7, 70);
  machine.rolled_back();
  EXPECT_FALSE(machine.open());
  EXPECT_EQ(machine.reached(), (Positions{{first, 10}}));
  EXPECT_EQ(machine.rows(), 0U);
  EXPECT_EQ(machine.bytes(), 0U);
  EXPECT_TRUE(machine.find(first)->accept(10)) << "the records of the epoch are read again";
}

TEST_F(EpochMachineTest, RollsBackAfterTheCutToo) {
  machine.own({{first, claim(10)}});
  open_epoch(machine, at(milliseconds(0)));
  const Cut lost = machine.cut();
  machine.rolled_back();
  open_epoch(machine, at(milliseconds(0)));
  EXPECT_EQ(machine.cut().epoch, lost.epoch) << "an epoch that did not happen leaves its number";
}

TEST_F(EpochMachineTest, EpochNumbersGrow) {
  machine.own({{first, claim(10)}});
  std::uint64_t last = 0;
  for (int round = 0; round < 3; ++round) {
    open_epoch(machine, at(milliseconds(round)));
    const Cut cut = machine.cut();
    EXPECT_EQ(number(cut.epoch), last + 1);
    last = number(cut.epoch);
    machine.committed(cut, at(milliseconds(round)));
    EXPECT_EQ(machine.claims().at(first).epoch, cut.epoch);
  }
}

TEST_F(EpochMachineTest, EpochNumbersGrowOverTakeOvers) {
  machine.own({{first, claim(10, 1, 7)}, {second, claim(20, 1, 41)}});
  open_epoch(machine, at(milliseconds(0)));
  const Cut cut = machine.cut();
  EXPECT_EQ(number(cut.epoch), 42U) << "after the last of whatever process";
  machine.committed(cut, at(milliseconds(0)));
  machine.disown({first, second});
  machine.own({{first, claim(11, 9, 3)}});
  open_epoch(machine, at(milliseconds(1)));
  EXPECT_EQ(number(machine.cut().epoch), 43U) << "not smaller because the splits that knew of it left";
}

TEST_F(EpochMachineTest, IsNotDueWithoutAnOpenEpoch) {
  machine.own({{first, claim(10)}});
  EXPECT_FALSE(machine.due(at(milliseconds(100'000)), true));
}

TEST_F(EpochMachineTest, IsDueAtTheInterval) {
  own_and_commit_once();
  open_epoch(machine, at(milliseconds(0)));
  EXPECT_FALSE(machine.due(at(milliseconds(999)), false));
  EXPECT_TRUE(machine.due(at(milliseconds(1000)), false));
}

TEST_F(EpochMachineTest, TheIntervalRunsFromTheFirstRecordNotFromTheLatest) {
  own_and_commit_once();
  open_epoch(machine, at(milliseconds(0)));
  ASSERT_TRUE(machine.find(first)->accept(12));
  machine.consumed(1, 1, at(milliseconds(999)));
  EXPECT_TRUE(machine.due(at(milliseconds(1000)), false));
}

TEST_F(EpochMachineTest, IsDueByRowsAndByBytes) {
  machine.own({{first, claim(10)}});
  open_epoch(machine, at(milliseconds(0)), 99, 999);
  EXPECT_FALSE(machine.due(at(milliseconds(0)), false));
  machine.consumed(1, 0, at(milliseconds(0)));
  EXPECT_EQ(machine.rows(), 100U);
  EXPECT_TRUE(machine.due(at(milliseconds(0)), false));
  machine.rolled_back();
  open_epoch(machine, at(milliseconds(0)), 1, 999);
  EXPECT_FALSE(machine.due(at(milliseconds(0)), false));
  machine.consumed(0, 1, at(milliseconds(0)));
  EXPECT_EQ(machine.bytes(), 1000U);
  EXPECT_TRUE(machine.due(at(milliseconds(0)), false));
}

TEST_F(EpochMachineTest, IsDueWhenCaughtUpButNotSoonerThanThePause) {
  machine.own({{first, claim(10)}});
  open_epoch(machine, at(milliseconds(0)));
  EXPECT_TRUE(machine.due(at(milliseconds(0)), true)) << "the first epoch waits for nothing";
  commit(machine, at(milliseconds(0)));
  open_epoch(machine, at(milliseconds(1)));
  EXPECT_FALSE(machine.due(at(milliseconds(49)), true));
  EXPECT_TRUE(machine.due(at(milliseconds(50)), true));
  EXPECT_FALSE(machine.due(at(milliseconds(50)), false));
}

// The clock may count from the machine's start, which may be more recent than any commit of the past.
TEST_F(EpochMachineTest, TheFirstEpochWaitsForNoPauseHoweverYoungTheClockIs) {
  EpochLimits long_pause = limits();
  long_pause.min_pause = long_pause.interval = std::chrono::hours(24);
  EpochMachine young(long_pause);
  young.own({{first, claim(10)}});
  open_epoch(young, at(milliseconds(0)));
  EXPECT_TRUE(young.due(at(milliseconds(0)), true));
  EXPECT_EQ(young.patience(at(milliseconds(0)), milliseconds(100)), milliseconds(100));
}

TEST_F(EpochMachineTest, IsDueWhenAllSplitsAreAtTheirBounds) {
  machine.own({{first, claim(10)}, {second, claim(20)}});
  machine.find(first)->bound(11);
  machine.find(second)->bound(21);
  open_epoch(machine, at(milliseconds(0)));
  EXPECT_FALSE(machine.at_bounds());
  EXPECT_FALSE(machine.due(at(milliseconds(0)), false));
  machine.find(second)->reach(21);
  machine.consumed(0, 0, at(milliseconds(0)));
  EXPECT_TRUE(machine.at_bounds());
  EXPECT_TRUE(machine.due(at(milliseconds(0)), false));
}

TEST_F(EpochMachineTest, IsPatientUntilTheEpochMustEnd) {
  own_and_commit_once();
  EXPECT_EQ(machine.patience(at(milliseconds(0)), milliseconds(100)), milliseconds(100)) << "nothing is open";
  open_epoch(machine, at(milliseconds(0)));
  EXPECT_EQ(machine.patience(at(milliseconds(0)), milliseconds(100)), milliseconds(100));
  EXPECT_EQ(machine.patience(at(milliseconds(970)), milliseconds(100)), milliseconds(30));
  EXPECT_EQ(machine.patience(at(milliseconds(970)) + microseconds(1), milliseconds(100)), milliseconds(30))
      << "rounded up, or the caller would spin through the last millisecond";
  EXPECT_EQ(machine.patience(at(milliseconds(1000)), milliseconds(100)), milliseconds(0));
  EXPECT_EQ(machine.patience(at(milliseconds(2000)), milliseconds(100)), milliseconds(0));
}

TEST_F(EpochMachineTest, IsPatientNoLongerThanThePause) {
  machine.own({{first, claim(10)}});
  open_epoch(machine, at(milliseconds(0)));
  commit(machine, at(milliseconds(0)));
  open_epoch(machine, at(milliseconds(10)));
  EXPECT_EQ(machine.patience(at(milliseconds(10)), milliseconds(100)), milliseconds(40));
  EXPECT_EQ(machine.patience(at(milliseconds(60)), milliseconds(100)), milliseconds(100));
}

TEST_F(EpochMachineTest, KeepsTheBoundWhenASplitIsTakenOverAgain) {
  machine.own({{first, claim(10, 1)}});
  machine.find(first)->bound(12);
  machine.own({{first, claim(11, 2)}});
  EXPECT_FALSE(machine.find(first)->accept(12));
}

TEST_F(EpochMachineTest, ATakeOverBelievesTheLedger) {
  machine.own({{first, claim(10, 1)}});
  open_epoch(machine, at(milliseconds(0)));
  machine.rolled_back();
  machine.own({{first, claim(15, 2, 6)}});
  EXPECT_EQ(machine.find(first)->next(), 15) << "the commit in doubt had happened";
  EXPECT_FALSE(machine.find(first)->accept(14));
}

TEST_F(EpochMachineTest, NothingChangesHandsWhileAnEpochIsOpen) {
  machine.own({{first, claim(10)}});
  open_epoch(machine, at(milliseconds(0)));
  expect_broken([&] { machine.own({{second, claim(0)}}); }, "taken over while an epoch was open");
  expect_broken([&] { machine.disown({first}); }, "left while an epoch was open");
  const Cut cut = machine.cut();
  expect_broken([&] { machine.own({{second, claim(0)}}); }, "taken over while an epoch was open");
  expect_broken([&] { machine.disown({first}); }, "left while an epoch was open");
  expect_broken([&] { machine.consumed(1, 1, at(milliseconds(0))); }, "after the cut");
  machine.committed(cut, at(milliseconds(0)));
  machine.disown({first});
}

TEST_F(EpochMachineTest, ATakeOverMustRaiseTheGeneration) {
  machine.own({{first, claim(10, 2)}});
  expect_broken([&] { machine.own({{first, claim(10, 2)}}); }, "did not raise the generation");
  expect_broken([&] { machine.own({{first, claim(10, 1)}}); }, "did not raise the generation");
  machine.own({{first, claim(10, 3)}});
}

TEST_F(EpochMachineTest, CutAndCommitComeInPairs) {
  machine.own({{first, claim(10)}});
  expect_broken([&] { machine.cut(); }, "without an open epoch");
  expect_broken([&] { machine.committed({}, at(milliseconds(0))); }, "not asked for");
  open_epoch(machine, at(milliseconds(0)));
  expect_broken([&] { machine.committed({}, at(milliseconds(0))); }, "not asked for");
  const Cut cut = machine.cut();
  expect_broken([&] { machine.cut(); }, "without an open epoch");
  machine.committed(cut, at(milliseconds(0)));
  expect_broken([&] { machine.committed(cut, at(milliseconds(0))); }, "not asked for");
}

TEST_F(EpochMachineTest, ACommitMustFitItsCut) {
  machine.own({{first, claim(10)}});
  open_epoch(machine, at(milliseconds(0)));
  Cut wrong = machine.cut();
  wrong.moves.front().to = 12;
  expect_broken([&] { machine.committed(wrong, at(milliseconds(0))); }, "does not fit its cut");
  wrong.moves.front() = {first, Generation{1}, 9, 11};
  expect_broken([&] { machine.committed(wrong, at(milliseconds(0))); }, "does not fit its cut");
  wrong.moves.front() = {third, Generation{1}, 10, 11};
  expect_broken([&] { machine.committed(wrong, at(milliseconds(0))); }, "left between cut and commit");
}

}  // namespace

}  // namespace sluice
