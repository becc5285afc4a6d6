// What rows hold: every kind of value at its limits, repeated keys, large and wide rows.
#include <algorithm>
#include <array>
#include <limits>
#include <map>

#include "core/testing/conformance_case.h"

namespace sluice::testing {

namespace {

TestTable kinds_table() {
  return {events,
          {{"id", Kind::integer},
           {"yes", Kind::boolean},
           {"whole", Kind::integer},
           {"part", Kind::real},
           {"exact", Kind::decimal},
           {"moment", Kind::timestamp},
           {"words", Kind::text},
           {"raw", Kind::bytes},
           {"tree", Kind::json}},
          {"id"},
          std::nullopt};
}

using Cells = std::vector<Value>;

std::string all_bytes() {
  std::string bytes;
  for (int byte = 0; byte < 256; ++byte) bytes += static_cast<char>(byte);
  return bytes;
}

// What a reader sees of them, beside the values: the rows in the order of their ids.
struct Sample {
  std::vector<Cells> rows;
  std::vector<TestRow> seen;
};

Sample limits(const std::string& bytes) {
  constexpr auto max = std::numeric_limits<std::int64_t>::max();
  constexpr auto min = std::numeric_limits<std::int64_t>::min();
  std::string hex;
  for (const char byte : bytes) {
    constexpr std::string_view digits = "0123456789abcdef";
    hex += digits[static_cast<unsigned char>(byte) >> 4];
    hex += digits[static_cast<unsigned char>(byte) & 15];
  }
  const std::string odd =
      "tab\t line\n return\r back\\slash 'one' \"two\" {a,b} \\N \\. \xc3\xbc \xe6\x97\xa5 \xf0\x9f\x8e\x89";
  static const std::string kept = odd;
  return {
      {{std::int64_t{1}, true, max, 1.7976931348623157e308, Decimal{"123456789012345678901234567890.123456789"},
        Timestamp{253402300799999999}, Text{kept}, Bytes{bytes}, Json{R"({"a":[1,"\u00fc\n",null,{"b":{}}]})"}},
       {std::int64_t{2}, false, min, 2.2250738585072014e-308, Decimal{"-0.000000000000000000000000000001"},
        Timestamp{-62135596800000000}, Text{""}, Bytes{""}, Json{"[]"}},
       {std::int64_t{3}, Null{}, Null{}, Null{}, Null{}, Null{}, Null{}, Null{}, Null{}},
       {std::int64_t{4}, false, std::int64_t{0}, 0.1, Decimal{"0.10"}, Timestamp{-1}, Text{"\\N"}, Bytes{"\\x41"},
        Json{"{}"}},
       {std::int64_t{5}, true, std::int64_t{-1}, -1.7976931348623157e308, Decimal{"-99999999999999999999"},
        Timestamp{0}, Text{"NULL"}, Bytes{"NULL"}, Json{"[[[]]]"}}},
      {{"1", "true", "9223372036854775807", "1.7976931348623157e+308", "123456789012345678901234567890.123456789",
        "253402300799999999", kept, hex, "\xc3\xbc"},
       {"2", "false", "-9223372036854775808", "2.2250738585072014e-308", "-0.000000000000000000000000000001",
        "-62135596800000000", "", "", "[]"},
       {"3", std::nullopt, std::nullopt, std::nullopt, std::nullopt, std::nullopt, std::nullopt, std::nullopt,
        std::nullopt},
       {"4", "false", "0", "0.10000000000000001", "0.1", "-1", "\\N", "5c783431", "{}"},
       {"5", "true", "-1", "-1.7976931348623157e+308", "-99999999999999999999", "0", "NULL", "4e554c4c", "[[[]]]"}}};
}

std::vector<TestRow> by_id(std::vector<TestRow> rows) {
  std::sort(rows.begin(), rows.end(),
            [](const TestRow& a, const TestRow& b) { return std::stoll(a[0].value()) < std::stoll(b[0].value()); });
  return rows;
}

// A column has its own scale, and a database may fill it up.
void trim_fraction(std::optional<std::string>& digits) {
  if (!digits || digits->find('.') == std::string::npos) return;
  digits->erase(digits->find_last_not_of('0') + 1);
  if (digits->back() == '.') digits->pop_back();
}

Batch batch_of(const std::vector<Cells>& rows) {
  Batch batch(rows.front().size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto cells = batch.append(RowKind::insert, {0, static_cast<std::int64_t>(i)});
    std::copy(rows[i].begin(), rows[i].end(), cells.begin());
  }
  return batch;
}

void write_all_kinds(SinkUnderTest& sut, bool upsert) {
  const std::string bytes = all_bytes();
  const TestTable table = kinds_table();
  sut.create_table(table);
  TestJob job;
  job.upsert = upsert;
  job.key = table.key;
  const auto sink = sut.open(job);
  const RowShape shape = sink->bind(events, {});
  ASSERT_EQ(shape.cells.size(), table.columns.size());
  for (std::size_t i = 0; i < shape.cells.size(); ++i) {
    EXPECT_EQ(shape.cells[i], (CellSource{CellSource::From::value_path, {table.columns[i].name}}));
  }
  const Sample sample = limits(bytes);
  const auto writer = sink->open_writer(0);
  Claims claims = writer->take_over({{split(0), 0}}, {}, {});
  write_all(*writer, events, batch_of(sample.rows), WriteMode::streaming);
  commit_to(*writer, 1, claims, {{split(0), 5}});
  auto seen = by_id(sut.rows(table));
  ASSERT_EQ(seen.size(), sample.seen.size());
  // Databases that understand JSON write it in their own way: here it is enough that the value is there.
  std::string& json = seen[0].back().value();
  json = json.find("\xc3\xbc") != std::string::npos || json.find("\\u00fc") != std::string::npos ? "\xc3\xbc" : json;
  constexpr std::size_t exact = 4;
  for (TestRow& row : seen) trim_fraction(row[exact]);
  for (std::size_t i = 0; i < seen.size(); ++i) EXPECT_EQ(seen[i], sample.seen[i]) << "row " << i + 1;
}

void every_kind_of_value_keeps_its_limits(SinkUnderTest& sut) {
  write_all_kinds(sut, false);
}
void every_kind_of_value_keeps_its_limits_in_an_upsert(SinkUnderTest& sut) {
  write_all_kinds(sut, true);
}

std::map<std::int64_t, std::string> notes(SinkUnderTest& sut) {
  std::map<std::int64_t, std::string> notes;
  for (const TestRow& row : sut.rows(events_table(Keyed::yes))) {
    EXPECT_TRUE(notes.emplace(std::stoll(row[0].value()), row[1].value()).second) << "a key is there twice";
  }
  return notes;
}

// F1: PostgreSQL refuses a statement that would touch a key twice; the last record of the key wins.
void an_upsert_of_a_repeated_key_keeps_the_last(SinkUnderTest& sut) {
  const auto sink = open_events(sut, Keyed::yes, true);
  const auto writer = sink->open_writer(0);
  Claims claims = writer->take_over({{split(0), 0}}, {}, {});
  for (const WriteMode mode : {WriteMode::streaming, WriteMode::isolating}) {
    Batch batch(2);
    add_event(batch, 1, "first");
    add_event(batch, 2, "only");
    add_event(batch, 1, "second");
    add_event(batch, 1, "last");
    write_all(*writer, events, batch, mode);
    commit_to(*writer, 1, claims, {{split(0), claims.at(split(0)).position + 4}});
    EXPECT_EQ(notes(sut), (std::map<std::int64_t, std::string>{{1, "last"}, {2, "only"}}));
  }
  Batch again(2);
  add_event(again, 1, "later");
  write_all(*writer, events, again, WriteMode::streaming);
  Batch and_again(2);
  add_event(and_again, 1, "latest");
  write_all(*writer, events, and_again, WriteMode::streaming);
  commit_to(*writer, 2, claims, {{split(0), 10}});
  EXPECT_EQ(notes(sut), (std::map<std::int64_t, std::string>{{1, "latest"}, {2, "only"}}));
}

// F3: more rows than go into one statement, with keys that repeat within and across statements.
void many_rows_with_repeated_keys_keep_the_last_of_each(SinkUnderTest& sut) {
  const auto sink = open_events(sut, Keyed::yes, true);
  const auto writer = sink->open_writer(0);
  Claims claims = writer->take_over({{split(0), 0}}, {}, {});
  constexpr std::int64_t records = 60'000;
  constexpr std::int64_t keys = 12'345;
  std::map<std::int64_t, std::string> last;
  for (std::int64_t start = 0; start < records; start += 1'000) {
    Batch batch(2);
    for (std::int64_t i = start; i < start + 1'000; ++i) {
      const std::int64_t key = i * 7 % keys;
      last[key] = std::to_string(i);
      add_event(batch, key, last[key]);
    }
    write_all(*writer, events, batch, WriteMode::streaming);
  }
  commit_to(*writer, 1, claims, {{split(0), records}});
  EXPECT_EQ(notes(sut), last);
}

// F78: 50 rows of a megabyte each, all different.
void large_rows_arrive_whole(SinkUnderTest& sut, bool upsert) {
  const auto sink = open_events(sut, Keyed::yes, upsert);
  const auto writer = sink->open_writer(0);
  Claims claims = writer->take_over({{split(0), 0}}, {}, {});
  const auto note = [](std::int64_t id) {
    return std::string(1'000'000, static_cast<char>('a' + id % 26)) + std::to_string(id);
  };
  for (std::int64_t start = 0; start < 50; start += 10) {
    Batch batch(2);
    for (std::int64_t id = start; id < start + 10; ++id) add_event(batch, id, note(id));
    write_all(*writer, events, batch, WriteMode::streaming);
  }
  commit_to(*writer, 1, claims, {{split(0), 50}});
  const auto seen = notes(sut);
  ASSERT_EQ(seen.size(), 50U);
  for (const auto& [id, text] : seen) EXPECT_TRUE(text == note(id)) << "row " << id;
}

void large_inserted_rows_arrive_whole(SinkUnderTest& sut) {
  large_rows_arrive_whole(sut, false);
}
void large_upserted_rows_arrive_whole(SinkUnderTest& sut) {
  large_rows_arrive_whole(sut, true);
}

// F77: 80,000 cells are more than any database takes as parameters of one statement.
void wide_rows_arrive_whole(SinkUnderTest& sut) {
  TestTable table{events, {{"id", Kind::integer}}, {"id"}, std::nullopt};
  while (table.columns.size() < 40) table.columns.push_back({"c" + std::to_string(table.columns.size()), Kind::text});
  sut.create_table(table);
  TestJob job;
  job.upsert = true;
  job.key = table.key;
  const auto sink = sut.open(job);
  sink->bind(events, {});
  const auto writer = sink->open_writer(0);
  Claims claims = writer->take_over({{split(0), 0}}, {}, {});
  Batch batch(40);
  for (std::int64_t id = 0; id < 2'000; ++id) {
    const auto cells = batch.append(RowKind::insert, {0, id});
    cells[0] = id;
    for (std::size_t i = 1; i < 40; ++i) {
      cells[i] = Text{batch.arena().copy(std::to_string(id) + "/" + std::to_string(i))};
    }
  }
  write_all(*writer, events, batch, WriteMode::streaming);
  commit_to(*writer, 1, claims, {{split(0), 2'000}});
  const auto seen = by_id(sut.rows(table));
  ASSERT_EQ(seen.size(), 2'000U);
  for (std::size_t id = 0; id < seen.size(); ++id) {
    ASSERT_EQ(seen[id][0], std::to_string(id));
    for (std::size_t i = 1; i < 40; ++i) ASSERT_EQ(seen[id][i], std::to_string(id) + "/" + std::to_string(i));
  }
}

constexpr std::array tests{
    ConformanceTest{"EveryKindOfValueKeepsItsLimits", every_kind_of_value_keeps_its_limits},
    ConformanceTest{"EveryKindOfValueKeepsItsLimitsInAnUpsert", every_kind_of_value_keeps_its_limits_in_an_upsert},
    ConformanceTest{"AnUpsertOfARepeatedKeyKeepsTheLast", an_upsert_of_a_repeated_key_keeps_the_last},
    ConformanceTest{"ManyRowsWithRepeatedKeysKeepTheLastOfEach", many_rows_with_repeated_keys_keep_the_last_of_each},
    ConformanceTest{"LargeInsertedRowsArriveWhole", large_inserted_rows_arrive_whole},
    ConformanceTest{"LargeUpsertedRowsArriveWhole", large_upserted_rows_arrive_whole},
    ConformanceTest{"WideRowsArriveWhole", wide_rows_arrive_whole},
};

}  // namespace

std::span<const ConformanceTest> value_tests() {
  return tests;
}

}  // namespace sluice::testing
