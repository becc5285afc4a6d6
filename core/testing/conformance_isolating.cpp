// One bad record among many: found by its origin, and the good ones can be written without it.
#include <algorithm>
#include <array>
#include <utility>

#include "core/testing/conformance_case.h"

namespace sluice::testing {

namespace {

constexpr std::int64_t rows = 1000;

// Rows 0 to 999 of which the one at `bad` alone is refused. The offset of a row is 5000 + its place.
Batch rows_with(std::int64_t bad, const std::string& bad_note, std::int64_t bad_id) {
  Batch batch(2);
  for (std::int64_t id = 0; id < rows; ++id) {
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

// The writer finds the row and writes the others.
void find_and_leave_out(SinkUnderTest& sut, Sink& sink, const TestTable& table, const BadRow& bad) {
  SCOPED_TRACE("bad row " + std::to_string(bad.at));
  const auto writer = sink.open_writer(0);
  Claims claims = writer->take_over({{split(0), 0}}, {}, {});
  const std::size_t before = sut.rows(table).size();
  std::vector<Reject> rejects;
  writer->write(events, rows_with(bad.at, bad.note, bad.id), WriteMode::isolating, rejects);
  ASSERT_EQ(rejects.size(), 1U);
  EXPECT_EQ(rejects[0].origin, (Origin{3, 5000 + bad.at})) << rejects[0].text();
  EXPECT_EQ(rejects[0].of, RejectClass::constraint);
  EXPECT_NE(rejects[0].code, "");
  EXPECT_EQ(rejects[0].text().find(bad.note), std::string::npos) << "a value shows: " << rejects[0].text();
  commit_to(*writer, number(claims.at(split(0)).epoch) + 1, claims, {{split(0), claims.at(split(0)).position + rows}});
  EXPECT_EQ(sut.rows(table).size(), before + rows - 1);
}

// Several at once, of both kinds, side by side and at both ends.
void many_bad_rows_are_found(SinkUnderTest& sut) {
  TestTable table = events_table(Keyed::yes);
  table.refused_note = "refused";
  sut.create_table(table);
  const auto sink = open_again(sut, Keyed::yes);
  const auto writer = sink->open_writer(0);
  Claims claims = writer->take_over({{split(0), 0}}, {}, {});
  Batch batch(2);
  std::vector<std::int64_t> bad;
  for (std::int64_t id = 0; id < rows; ++id) {
    const bool taken = id > 0 && (id == 500 || id == rows - 1);
    const bool refused = id == 0 || id == 499 || id == 501 || id % 333 == 7;
    if (taken || refused) bad.push_back(id);
    const auto cells = batch.append(RowKind::insert, {0, id});
    cells[0] = taken ? 1 : id;
    cells[1] = Text{refused ? "refused" : "good"};
  }
  std::vector<Reject> rejects;
  writer->write(events, batch, WriteMode::isolating, rejects);
  std::vector<std::int64_t> found;
  for (const Reject& reject : rejects) found.push_back(reject.origin.offset);
  std::sort(found.begin(), found.end());
  EXPECT_EQ(found, bad);
  commit_to(*writer, 1, claims, {{split(0), rows}});
  EXPECT_EQ(sut.rows(table).size(), static_cast<std::size_t>(rows) - bad.size());
}

DeadLetter letter(std::int64_t offset, const std::string& message) {
  DeadLetter letter;
  letter.split = split(0);
  letter.offset = offset;
  letter.timestamp_ms = 1'700'000'000'000 + offset;
  letter.key = std::string("k\0\xff", 3);
  letter.value = "{\"id\": \"nine\"}";
  letter.headers = {{"trace", "t-1"}, {"raw", std::string("\xfe\0", 2)}};
  letter.of = RejectClass::constraint;
  letter.code = "23505";
  letter.message = message;
  letter.epoch = Epoch{7};
  return letter;
}

// A record is in the table or among the letters, whatever happens to its epoch.
void letters_live_and_die_with_their_epoch(SinkUnderTest& sut) {
  const auto sink = open_events(sut);
  const auto writer = sink->open_writer(0);
  Claims claims = writer->take_over({{split(0), 0}}, {}, {});
  write_events(*writer, 0, 10);
  writer->set_aside(std::vector{letter(10, "rolled back")});
  writer->abort();
  EXPECT_EQ(sut.letters().size(), 0U);
  write_events(*writer, 0, 10);
  writer->set_aside(std::vector{letter(10, "column note: is too long")});
  write_events(*writer, 11, 20);
  EXPECT_EQ(sut.letters().size(), 0U);
  commit_to(*writer, 1, claims, {{split(0), 20}});
  const auto letters = sut.letters();
  ASSERT_EQ(letters.size(), 1U);
  const DeadLetter wanted = letter(10, "column note: is too long");
  EXPECT_EQ(letters[0].split, wanted.split);
  EXPECT_EQ(letters[0].offset, 10);
  EXPECT_EQ(letters[0].timestamp_ms, wanted.timestamp_ms);
  EXPECT_EQ(letters[0].key, wanted.key);
  EXPECT_EQ(letters[0].value, wanted.value);
  EXPECT_EQ(letters[0].headers, wanted.headers);
  EXPECT_EQ(letters[0].of, wanted.of);
  EXPECT_EQ(letters[0].code, wanted.code);
  EXPECT_EQ(letters[0].message, wanted.message);
  EXPECT_EQ(letters[0].epoch, wanted.epoch);
  EXPECT_EQ(visible_ids(sut).size(), 19U);
}

void a_letter_of_the_same_record_is_replaced(SinkUnderTest& sut) {
  const auto sink = open_events(sut);
  const auto writer = sink->open_writer(0);
  Claims claims = writer->take_over({{split(0), 0}}, {}, {});
  std::vector<DeadLetter> many;
  for (std::int64_t offset = 0; offset < 2'500; ++offset) many.push_back(letter(offset, "first"));
  writer->set_aside(many);
  writer->set_aside(std::vector{letter(3, "second")});
  commit_to(*writer, 1, claims, {{split(0), 2'500}});
  const auto letters = sut.letters();
  ASSERT_EQ(letters.size(), 2'500U);
  const auto replaced =
      std::count_if(letters.begin(), letters.end(), [](const DeadLetter& one) { return one.message == "second"; });
  EXPECT_EQ(replaced, 1);
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
  Claims claims = writer->take_over({{split(0), 0}}, {}, {});
  write_events(*writer, 150, 151);
  commit_to(*writer, 1, claims, {{split(0), 1}});
  write_events(*writer, 0, 100, WriteMode::isolating);
  std::vector<Reject> rejects;
  writer->write(events, event_rows(100, 200), WriteMode::isolating, rejects);
  ASSERT_EQ(rejects.size(), 1U);
  EXPECT_EQ(rejects[0].origin, (Origin{0, 150}));
  writer->abort();
  EXPECT_EQ(visible_ids(sut, Keyed::yes), ids(150, 151));
}

// Fast mode may not know which record it is, but never lets it pass.
void a_bad_row_never_passes_in_streaming_mode(SinkUnderTest& sut) {
  const auto sink = open_events(sut, Keyed::yes);
  const auto writer = sink->open_writer(0);
  const Claims claims = writer->take_over({{split(0), 0}}, {}, {});
  std::vector<Reject> rejects;
  const auto error = error_of([&] {
    writer->write(events, rows_with(637, "n", 0), WriteMode::streaming, rejects);
    if (rejects.empty()) writer->commit(cut_of(1, claims, {{split(0), rows}}));
  });
  if (error) {
    EXPECT_EQ(error->fault(), Fault::bad_record) << error->what();
  } else {
    ASSERT_EQ(rejects.size(), 1U);
    EXPECT_EQ(rejects[0].origin, (Origin{3, 5637}));
  }
  writer->abort();
  EXPECT_EQ(visible_ids(sut, Keyed::yes), ids(0, 0));
  EXPECT_EQ(sink->positions(), (Positions{{split(0), 0}}));
}

void good_rows_pass_in_both_modes(SinkUnderTest& sut) {
  const auto sink = open_events(sut, Keyed::yes);
  const auto writer = sink->open_writer(0);
  Claims claims = writer->take_over({{split(0), 0}}, {}, {});
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
    ConformanceTest{"ManyBadRowsAreFound", many_bad_rows_are_found},
    ConformanceTest{"LettersLiveAndDieWithTheirEpoch", letters_live_and_die_with_their_epoch},
    ConformanceTest{"ALetterOfTheSameRecordIsReplaced", a_letter_of_the_same_record_is_replaced},
};

}  // namespace

std::span<const ConformanceTest> isolating_tests() {
  return tests;
}

}  // namespace sluice::testing
