// Epochs: rows and ledger together, or neither.
#include <array>

#include "core/testing/conformance_case.h"

namespace sluice::testing {

namespace {

void what_is_committed_is_there_with_its_position(SinkUnderTest& sut) {
  const auto sink = open_events(sut);
  const auto writer = sink->open_writer(0);
  Claims claims = writer->take_over({{split(0), 0}}, {}, {});
  write_events(*writer, 0, 10);
  write_events(*writer, 10, 25);
  commit_to(*writer, 1, claims, {{split(0), 25}});
  EXPECT_EQ(visible_ids(sut), ids(0, 25));
  EXPECT_EQ(sink->positions(), (Positions{{split(0), 25}}));
  EXPECT_EQ(known_positions(*writer, {split(0)}), (Positions{{split(0), 25}}));
}

void nothing_shows_before_the_commit(SinkUnderTest& sut) {
  const auto sink = open_events(sut);
  const auto writer = sink->open_writer(0);
  Claims claims = writer->take_over({{split(0), 0}}, {}, {});
  write_events(*writer, 0, 5'000, WriteMode::isolating);
  write_events(*writer, 5'000, 20'000);
  EXPECT_EQ(visible_ids(sut), ids(0, 0));
  EXPECT_EQ(sink->positions(), (Positions{{split(0), 0}}));
  commit_to(*writer, 1, claims, {{split(0), 20'000}});
  EXPECT_EQ(visible_ids(sut), ids(0, 20'000));
}

void epochs_follow_each_other(SinkUnderTest& sut) {
  const auto sink = open_events(sut);
  const auto writer = sink->open_writer(0);
  Claims claims = writer->take_over({{split(0), 0}, {split(1), 0}}, {}, {});
  for (std::int64_t epoch = 0; epoch < 20; ++epoch) {
    write_events(*writer, epoch * 10, epoch * 10 + 10);
    commit_to(*writer, static_cast<std::uint64_t>(epoch) + 1, claims, {{split(epoch % 2), epoch * 10 + 10}});
  }
  EXPECT_EQ(visible_ids(sut), ids(0, 200));
  EXPECT_EQ(sink->positions(), (Positions{{split(0), 190}, {split(1), 200}}));
  EXPECT_EQ(number(sink->open_writer(0)->take_over({{split(1), 0}}, {}, {}).at(split(1)).epoch), 20U);
}

void an_abort_leaves_nothing_and_the_writer_goes_on(SinkUnderTest& sut) {
  const auto sink = open_events(sut);
  const auto writer = sink->open_writer(0);
  Claims claims = writer->take_over({{split(0), 0}}, {}, {});
  writer->abort();  // nothing is open
  write_events(*writer, 0, 5'000, WriteMode::isolating);
  write_events(*writer, 5'000, 6'000);
  writer->abort();
  writer->abort();
  EXPECT_EQ(visible_ids(sut), ids(0, 0));
  EXPECT_EQ(sink->positions(), (Positions{{split(0), 0}}));
  write_events(*writer, 0, 7);
  commit_to(*writer, 1, claims, {{split(0), 7}});
  EXPECT_EQ(visible_ids(sut), ids(0, 7));
}

void a_writer_that_dies_with_an_open_epoch_leaves_nothing(SinkUnderTest& sut) {
  const auto sink = open_events(sut);
  for (const WriteMode mode : {WriteMode::streaming, WriteMode::isolating}) {
    const auto writer = sink->open_writer(0);
    writer->take_over({{split(0), 0}}, {}, {});
    write_events(*writer, 0, 5'000, mode);
  }
  EXPECT_EQ(visible_ids(sut), ids(0, 0));
  EXPECT_EQ(sink->positions(), (Positions{{split(0), 0}}));
  const auto writer = sink->open_writer(0);
  Claims claims = writer->take_over({{split(0), 0}}, {}, {});
  write_events(*writer, 0, 3);
  commit_to(*writer, 1, claims, {{split(0), 3}});
  EXPECT_EQ(visible_ids(sut), ids(0, 3));
}

// In order with the rows around it, within a batch and across batches and epochs; a key that is not there is nothing.
void a_row_is_erased_by_its_key(SinkUnderTest& sut) {
  const auto sink = open_events(sut, Keyed::yes, true);
  const auto writer = sink->open_writer(0);
  Claims claims = writer->take_over({{split(0), 0}}, {}, {});
  const auto erase = [](Batch& batch, std::int64_t id) { batch.append(RowKind::erase, {0, 100 + id})[0] = id; };
  write_events(*writer, 0, 6);
  Batch changes(2);
  erase(changes, 1);
  erase(changes, 2);
  erase(changes, 99);
  add_event(changes, 2, "again");
  add_event(changes, 7, "short-lived");
  erase(changes, 7);
  erase(changes, 3);
  write_all(*writer, events, changes, WriteMode::streaming);
  commit_to(*writer, 1, claims, {{split(0), 10}});
  EXPECT_EQ(visible_ids(sut, Keyed::yes), (std::multiset<std::int64_t>{0, 2, 4, 5}));
  for (const WriteMode mode : {WriteMode::streaming, WriteMode::isolating}) {
    Batch one(2);
    erase(one, mode == WriteMode::streaming ? 0 : 4);
    write_all(*writer, events, one, mode);
  }
  commit_to(*writer, 2, claims, {{split(0), 20}});
  EXPECT_EQ(visible_ids(sut, Keyed::yes), (std::multiset<std::int64_t>{2, 5}));
  for (const auto& row : sut.rows(events_table(Keyed::yes))) {
    EXPECT_EQ(row.at(1), row.at(0) == "2" ? "again" : "n");
  }
}

// Transaction markers and compaction: positions move although no row came.
void a_cut_without_rows_moves_the_ledger_alone(SinkUnderTest& sut) {
  const auto sink = open_events(sut);
  const auto writer = sink->open_writer(0);
  Claims claims = writer->take_over({{split(0), 0}}, {}, {});
  commit_to(*writer, 1, claims, {{split(0), 4}});
  EXPECT_EQ(sink->positions(), (Positions{{split(0), 4}}));
  EXPECT_EQ(visible_ids(sut), ids(0, 0));
  write_events(*writer, 4, 5);
  commit_to(*writer, 2, claims, {{split(0), 5}});
  EXPECT_EQ(visible_ids(sut), ids(4, 5));
}

void a_cut_from_another_position_is_refused_whole(SinkUnderTest& sut) {
  const auto sink = open_events(sut);
  for (const std::int64_t wrong : {9, 11}) {
    const auto writer = sink->open_writer(0);
    Claims claims = writer->take_over({{split(0), 10}}, {}, {});
    claims.at(split(0)).position = wrong;
    write_events(*writer, 0, 10);
    expect_fault(Fault::retryable, [&] { writer->commit(cut_of(1, claims, {{split(0), 20}})); });
    EXPECT_EQ(visible_ids(sut), ids(0, 0));
    EXPECT_EQ(sink->positions(), (Positions{{split(0), 10}}));
  }
}

void one_wrong_move_stops_all_of_the_cut(SinkUnderTest& sut) {
  const auto sink = open_events(sut);
  const auto writer = sink->open_writer(0);
  Claims claims = writer->take_over({{split(0), 0}, {split(1), 0}, {split(2), 0}}, {}, {});
  claims.at(split(1)).position = 1;
  write_events(*writer, 0, 10);
  expect_fault(Fault::retryable, [&] {
    writer->commit(cut_of(1, claims, {{split(0), 5}, {split(1), 5}, {split(2), 5}}));
  });
  EXPECT_EQ(visible_ids(sut), ids(0, 0));
  EXPECT_EQ(sink->positions(), (Positions{{split(0), 0}, {split(1), 0}, {split(2), 0}}));
}

// Delivered twice to the ledger, as after a lost answer: the second one finds another position.
void the_same_cut_does_not_pass_twice(SinkUnderTest& sut) {
  const auto sink = open_events(sut);
  const auto writer = sink->open_writer(0);
  const Claims claims = writer->take_over({{split(0), 0}}, {}, {});
  const Cut cut = cut_of(1, claims, {{split(0), 10}});
  write_events(*writer, 0, 10);
  writer->commit(cut);
  write_events(*writer, 0, 10);
  expect_fault(Fault::retryable, [&] { writer->commit(cut); });
  EXPECT_EQ(visible_ids(sut), ids(0, 10));
}

void two_topics_go_to_two_tables_in_one_epoch(SinkUnderTest& sut) {
  const auto sink = open_events(sut);
  TestTable second = events_table();
  second.name = "events_two";
  sut.create_table(second);
  sink->bind("events_two", {});
  const auto writer = sink->open_writer(0);
  Claims claims = writer->take_over({{split(0), 0}, {split(0, "events_two"), 0}}, {}, {});
  for (std::int64_t id = 0; id < 40; id += 2) {
    write_all(*writer, events, event_rows(id, id + 1), WriteMode::streaming);
    write_all(*writer, "events_two", event_rows(id + 1, id + 2), WriteMode::streaming);
  }
  EXPECT_TRUE(sut.rows(second).empty());
  commit_to(*writer, 1, claims, {{split(0), 20}, {split(0, "events_two"), 20}});
  EXPECT_EQ(visible_ids(sut).size(), 20U);
  EXPECT_EQ(sut.rows(second).size(), 20U);
  write_all(*writer, "events_two", event_rows(100, 101), WriteMode::streaming);
  write_all(*writer, events, event_rows(100, 101), WriteMode::streaming);
  writer->abort();
  EXPECT_EQ(visible_ids(sut).size(), 20U);
  EXPECT_EQ(sut.rows(second).size(), 20U);
}

void writers_of_different_splits_do_not_disturb_each_other(SinkUnderTest& sut) {
  const auto sink = open_events(sut);
  const auto first = sink->open_writer(0);
  const auto second = sink->open_writer(1);
  Claims of_first = first->take_over({{split(0), 0}}, {}, {});
  Claims of_second = second->take_over({{split(1), 0}}, {}, {});
  write_events(*first, 0, 10);
  write_events(*second, 10, 20);
  commit_to(*second, 1, of_second, {{split(1), 10}});
  EXPECT_EQ(visible_ids(sut), ids(10, 20));
  EXPECT_EQ(sink->positions(), (Positions{{split(0), 0}, {split(1), 10}}));
  commit_to(*first, 1, of_first, {{split(0), 10}});
  EXPECT_EQ(visible_ids(sut), ids(0, 20));
}

void a_table_that_is_not_there_is_named_before_anything_is_written(SinkUnderTest& sut) {
  const auto sink = open_events(sut);
  const auto error = error_of([&] { sink->bind("nowhere_to_be_found", {}); });
  ASSERT_TRUE(error.has_value());
  EXPECT_EQ(error->fault(), Fault::fatal);
  EXPECT_NE(std::string(error->what()).find("nowhere_to_be_found"), std::string::npos) << error->what();
}

constexpr std::array tests{
    ConformanceTest{"WhatIsCommittedIsThereWithItsPosition", what_is_committed_is_there_with_its_position},
    ConformanceTest{"NothingShowsBeforeTheCommit", nothing_shows_before_the_commit},
    ConformanceTest{"EpochsFollowEachOther", epochs_follow_each_other},
    ConformanceTest{"AnAbortLeavesNothingAndTheWriterGoesOn", an_abort_leaves_nothing_and_the_writer_goes_on},
    ConformanceTest{"AWriterThatDiesWithAnOpenEpochLeavesNothing",
                    a_writer_that_dies_with_an_open_epoch_leaves_nothing},
    ConformanceTest{"ARowIsErasedByItsKey", a_row_is_erased_by_its_key},
    ConformanceTest{"ACutWithoutRowsMovesTheLedgerAlone", a_cut_without_rows_moves_the_ledger_alone},
    ConformanceTest{"ACutFromAnotherPositionIsRefusedWhole", a_cut_from_another_position_is_refused_whole},
    ConformanceTest{"OneWrongMoveStopsAllOfTheCut", one_wrong_move_stops_all_of_the_cut},
    ConformanceTest{"TheSameCutDoesNotPassTwice", the_same_cut_does_not_pass_twice},
    ConformanceTest{"TwoTopicsGoToTwoTablesInOneEpoch", two_topics_go_to_two_tables_in_one_epoch},
    ConformanceTest{"WritersOfDifferentSplitsDoNotDisturbEachOther",
                    writers_of_different_splits_do_not_disturb_each_other, Needs::several_writers},
    ConformanceTest{"ATableThatIsNotThereIsNamed", a_table_that_is_not_there_is_named_before_anything_is_written},
};

}  // namespace

std::span<const ConformanceTest> epoch_tests() {
  return tests;
}

}  // namespace sluice::testing
