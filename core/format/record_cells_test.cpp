#include "core/format/record_cells.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "core/format/json_fixture.h"

namespace sluice {
namespace {

using testing::JsonDecoding;

Record record_with(std::string_view value) {
  Record record;
  record.value = value;
  return record;
}

TEST(RecordCells, PlaceOfTheRecord) {
  JsonDecoding decoding({"@topic", "@partition", "v", "@offset", "@timestamp"});
  Record first = record_with(R"({"v":1})");
  first.offset = 9'000'000'000;
  first.timestamp_ms = 1'764'000'000'123;
  Record second = record_with(R"({"v":2})");
  second.split = 1;
  decoding.decode_records({first, second, first});
  ASSERT_EQ(decoding.rows.rows(), 3u);
  EXPECT_EQ(decoding.cell(0, 0), Value(Text{"orders"}));
  EXPECT_EQ(decoding.cell(0, 1), Value(std::int64_t{3}));
  EXPECT_EQ(decoding.cell(0, 2), Value(std::int64_t{1}));
  EXPECT_EQ(decoding.cell(0, 3), Value(std::int64_t{9'000'000'000}));
  EXPECT_EQ(decoding.cell(0, 4), Value(Timestamp{1'764'000'000'123'000}));
  EXPECT_EQ(decoding.cell(1, 0), Value(Text{"orders_archive"}));
  EXPECT_EQ(decoding.cell(1, 1), Value(std::int64_t{0}));
  EXPECT_EQ(decoding.cell(1, 4), Value(Null{}));
  EXPECT_EQ(decoding.cell(2, 0), Value(Text{"orders"}));
  EXPECT_EQ(decoding.rows.origin(1), (Origin{1, 0}));
}

TEST(RecordCells, KeyIsTextBytesOrNull) {
  JsonDecoding decoding(std::vector<std::string>{"@key"});
  std::string text_key = "key \xC3\xA9";
  std::string binary_key = "\xFF\x01";
  std::vector<Record> records(4, record_with("{}"));
  records[0].key = text_key;
  records[1].key = binary_key;
  records[2].key = "";
  decoding.decode_records(records);
  text_key.assign(text_key.size(), '#');
  binary_key.assign(binary_key.size(), '#');
  EXPECT_EQ(decoding.cell(0, 0), Value(Text{"key \xC3\xA9"}));
  EXPECT_EQ(decoding.cell(1, 0), Value(Bytes{"\xFF\x01"}));
  EXPECT_EQ(decoding.cell(2, 0), Value(Text{""}));
  EXPECT_EQ(decoding.cell(3, 0), Value(Null{}));
}

TEST(RecordCells, OfHeadersTheLastWithTheNameCounts) {
  JsonDecoding decoding({"@headers.trace", "@headers.raw", "@headers.none"});
  const std::vector<Header> headers{{"trace", "1"}, {"raw", "\xFE"}, {"trace", "2"}, {"tracer", "3"}};
  Record record = record_with("{}");
  record.headers = headers;
  decoding.decode_records({record});
  EXPECT_EQ(decoding.cell(0, 0), Value(Text{"2"}));
  EXPECT_EQ(decoding.cell(0, 1), Value(Bytes{"\xFE"}));
  EXPECT_EQ(decoding.cell(0, 2), Value(Null{}));
}

TEST(RecordCells, MetadataOfAReusedBatchIsNotTheOldOne) {
  JsonDecoding decoding({"@topic", "v"});
  for (int poll = 0; poll < 3; ++poll) {
    decoding.rows.clear();
    decoding.decode_records({record_with(R"({"v":"overwrites what the arena held before"})")});
    EXPECT_EQ(decoding.cell(0, 0), Value(Text{"orders"}));
  }
}

TEST(RecordCells, TombstonesAndImpossibleTimestampsAreRejected) {
  JsonDecoding decoding({"@timestamp", "v"});
  Record late = record_with("{}");
  late.offset = 5;
  late.timestamp_ms = std::numeric_limits<std::int64_t>::max();
  Record tombstone;
  tombstone.offset = 6;
  decoding.decode_records({late, tombstone});
  EXPECT_TRUE(decoding.rows.empty());
  ASSERT_EQ(decoding.rejects.size(), 2u);
  EXPECT_EQ(decoding.rejects[0].field, "@timestamp");
  EXPECT_EQ(decoding.rejects[0].origin, (Origin{0, 5}));
  EXPECT_TRUE(decoding.rejects[1].reason.starts_with("the record has no value (tombstone)"));
  EXPECT_EQ(decoding.rejects[1].origin, (Origin{0, 6}));
}

Record keyed(std::optional<std::string_view> key, std::optional<std::string_view> value) {
  Record record;
  record.key = key;
  record.value = value;
  return record;
}

TEST(RecordCells, FieldsOfTheKeyStandBesideThoseOfTheValue) {
  JsonDecoding decoding({"@key.id", "id", "@key.part.no"});
  std::string key = R"({"part":{"no":"seven"},"id":1})";
  decoding.decode_records({keyed(key, R"({"id":2})"), keyed(R"({"id":3})", "{}")});
  key.assign(key.size(), '#');
  ASSERT_EQ(decoding.rows.rows(), 2U);
  EXPECT_EQ(decoding.cell(0, 0), Value(std::int64_t{1}));
  EXPECT_EQ(decoding.cell(0, 1), Value(std::int64_t{2}));
  EXPECT_EQ(decoding.cell(0, 2), Value(Text{"seven"}));
  EXPECT_EQ(decoding.cell(1, 0), Value(std::int64_t{3}));
  EXPECT_EQ(decoding.cell(1, 2), Value(Null{}));
}

TEST(RecordCells, AKeyThatIsNoObjectIsItsOnlyField) {
  RowShape shape = testing::shape_of({"@key.id", "v"});
  shape.cells[0].whole_key = true;
  JsonDecoding decoding(shape);
  decoding.decode_records({keyed("42", R"({"v":1})"), keyed("\"a\"", "{}"), keyed("4 2", "{}"), keyed({}, "{}")});
  ASSERT_EQ(decoding.rows.rows(), 2U);
  EXPECT_EQ(decoding.cell(0, 0), Value(std::int64_t{42}));
  EXPECT_EQ(decoding.cell(1, 0), Value(Text{"a"}));
  ASSERT_EQ(decoding.rejects.size(), 2U);
  EXPECT_EQ(decoding.rejects[0].field, "@key");
  EXPECT_EQ(decoding.rejects[1].reason, "the record has no key");
}

TEST(RecordCells, ATombstoneErasesTheRowOfItsKeyWhereThatIsWanted) {
  RowShape shape = testing::shape_of({"@key.id", "v"});
  shape.erases = true;
  JsonDecoding decoding(shape);
  decoding.decode_records({keyed(R"({"id":1})", R"({"v":1})"), keyed(R"({"id":1})", {}), keyed("{", {})});
  ASSERT_EQ(decoding.rows.rows(), 2U);
  EXPECT_EQ(decoding.rows.kind(0), RowKind::insert);
  EXPECT_EQ(decoding.rows.kind(1), RowKind::erase);
  EXPECT_EQ(decoding.cell(1, 0), Value(std::int64_t{1}));
  EXPECT_EQ(decoding.rejects.size(), 1U);
}

TEST(RecordCells, ABatchOfAnotherShapeIsAnError) {
  testing::TwoSplits names;
  const auto decoder = JsonFormat().decoder(testing::shape_of({"a", "b"}), names);
  Batch rows(3);
  std::vector<Reject> rejects;
  EXPECT_THROW(decoder->decode({}, rows, rejects), std::invalid_argument);
}

TEST(RecordCells, NoRecordsNoRows) {
  JsonDecoding decoding(std::vector<std::string>{"a"});
  decoding.decode_records({});
  EXPECT_TRUE(decoding.rows.empty());
}

}  // namespace
}  // namespace sluice
