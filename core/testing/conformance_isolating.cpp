// One bad record among many: found by its origin, and the good ones can be written without it.
#include <algorithm>
#include <array>
#include <utility>

#include "core/testing/conformance_case.h"

namespace sluice::testing {

namespace {

constexpr std::int64_t rows = 1000;

// Rows 0 to 999 of which `bad` alone is refused; `leave_out` is not among them. The offset of a row is 5000 + its id.
Batch rows_with(std::int64_t bad, const std::string& bad_note, std::int64_t bad_id, bool leave_out) {
  Batch batch(2);
  for (std::int64_t id = 0; id < rows; ++id) {
    if (id == bad && leave_out) continue;
    const auto cells = batch.append(RowKind::insert, {3, 5000 + id});
    cells[0] = id == bad ? bad_id : id;
    cells[1] = Text{batch.arena().copy(id == bad ? bad_note : "good")};
  }
  return batch;
}

struct BadRow {
  std::int64_t at;
  std::string note;
  std::int64_t id;
};

// The writer finds the row, and after abort() writes the others.
void find_and_leave_out(SinkUnderTest& sut, Sink& sink, const TestTable& table, const BadRow& bad) {
  SCOPED_TRACE("bad row " + std::to_string(bad.at));
  const auto writer = sink.open_writer(0);
  Claims claims = writer->take_over({{split(0), 0}}, {});
  const std::size_t before = sut.rows(table).size();
  try {
    writer->write(events, rows_with(bad.at, bad.note, bad.id, false), WriteMode::isolating);
    ADD_FAILURE() << "the bad row was not noticed";
  } catch (const BadRecord& error) {
    EXPECT_EQ(error.origin(), (Origin{3, 5000 + bad.at})) << error.what();
    EXPECT_EQ(std::string(error.what()).find(bad.note), std::string::npos) << "a value shows: " << error.what();
  }
  writer->abort();
  EXPECT_EQ(sut.rows(table).size(), before);
  const Batch good = rows_with(bad.at, bad.note, bad.id, true);
  writer->write(events, good, WriteMode::isolating);
  commit_to(*writer, number(claims.at(split(0)).epoch) + 1, claims, {{split(0), claims.at(split(0)).position + rows}});
  EXPECT_EQ(sut.rows(table).size(), before + good.rows());
}

void a_taken_key_is_found_among_a_thousand(SinkUnderTest& sut) {
  const TestTable table = events_table(Keyed::yes);
  for (const std::int64_t at : {std::int64_t{637}, std::int64_t{1}, rows - 1}) {
    const auto sink = open_events(sut, Keyed::yes);
    find_and_leave_out(sut, *sink, table, {at, "secret-4711", 0});  // the key of the first row
  }
}

void a_row_that_a_constraint_refuses_is_found(SinkUnderTest& sut, bool upsert) {
  for (const std::int64_t at : {std::int64_t{0}, std::int64_t{637}, rows - 1}) {
    TestTable table = events_table(Keyed::yes);
    table.refused_note = "secret-4711";
    sut.create_table(table);
    const auto sink = open_again(sut, Keyed::yes, upsert);
    find_and_leave_out(sut, *sink, table, {at, "secret-4711", at});
  }
}

void an_inserted_row_that_a_constraint_refuses_is_found(SinkUnderTest& sut) {
  a_row_that_a_constraint_refuses_is_found(sut, false);
}

void an_upserted_row_that_a_constraint_refuses_is_found(SinkUnderTest& sut) {
  a_row_that_a_constraint_refuses_is_found(sut, true);
}

// The key was taken by an earlier epoch, and the bad record comes in the second batch of this one.
void a_key_that_was_taken_earlier_is_found(SinkUnderTest& sut) {
  const auto sink = open_events(sut, Keyed::yes);
  const auto writer = sink->open_writer(0);
  Claims claims = writer->take_over({{split(0), 0}}, {});
  write_events(*writer, 150, 151);
  commit_to(*writer, 1, claims, {{split(0), 1}});
  write_events(*writer, 0, 100, WriteMode::isolating);
  try {
    write_events(*writer, 100, 200, WriteMode::isolating);
    ADD_FAILURE() << "the taken key was not noticed";
  } catch (const BadRecord& error) {
    EXPECT_EQ(error.origin(), (Origin{0, 150}));
  }
  writer->abort();
  EXPECT_EQ(visible_ids(sut, Keyed::yes), ids(150, 151));
}

// Fast mode may not know which record it is, but never lets it pass.
void a_bad_row_never_passes_in_streaming_mode(SinkUnderTest& sut) {
  const auto sink = open_events(sut, Keyed::yes);
  const auto writer = sink->open_writer(0);
  const Claims claims = writer->take_over({{split(0), 0}}, {});
  expect_fault(Fault::bad_record, [&] {
    writer->write(events, rows_with(637, "n", 0, false), WriteMode::streaming);
    writer->commit(cut_of(1, claims, {{split(0), rows}}));
  });
  EXPECT_EQ(visible_ids(sut, Keyed::yes), ids(0, 0));
  EXPECT_EQ(sink->positions(), (Positions{{split(0), 0}}));
}

void good_rows_pass_in_both_modes(SinkUnderTest& sut) {
  const auto sink = open_events(sut, Keyed::yes);
  const auto writer = sink->open_writer(0);
  Claims claims = writer->take_over({{split(0), 0}}, {});
  write_events(*writer, 0, 500, WriteMode::isolating);
  write_events(*writer, 500, 1000, WriteMode::streaming);
  write_events(*writer, 1000, 1500, WriteMode::isolating);
  commit_to(*writer, 1, claims, {{split(0), 1500}});
  EXPECT_EQ(visible_ids(sut, Keyed::yes), ids(0, 1500));
}

constexpr std::array tests{
    ConformanceTest{"ATakenKeyIsFoundAmongAThousand", a_taken_key_is_found_among_a_thousand},
    ConformanceTest{"AnInsertedRowThatAConstraintRefusesIsFound", an_inserted_row_that_a_constraint_refuses_is_found},
    ConformanceTest{"AnUpsertedRowThatAConstraintRefusesIsFound", an_upserted_row_that_a_constraint_refuses_is_found},
    ConformanceTest{"AKeyThatWasTakenEarlierIsFound", a_key_that_was_taken_earlier_is_found},
    ConformanceTest{"ABadRowNeverPassesInStreamingMode", a_bad_row_never_passes_in_streaming_mode},
    ConformanceTest{"GoodRowsPassInBothModes", good_rows_pass_in_both_modes},
};

}  // namespace

std::span<const ConformanceTest> isolating_tests() {
  return tests;
}

}  // namespace sluice::testing
