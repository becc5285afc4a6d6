// Which fields of a record reach which cells.
#include "core/format/json_fields.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "core/format/json_fixture.h"

namespace sluice {
namespace {

using testing::JsonDecoding;
using testing::owned;

std::vector<testing::OwnedCell> row(const JsonDecoding& decoding, std::size_t index) {
  std::vector<testing::OwnedCell> cells;
  for (const auto& value : decoding.rows.row(index)) cells.push_back(owned(value));
  return cells;
}

const auto null = owned(Null{});
testing::OwnedCell integer(std::int64_t number) {
  return owned(number);
}

TEST(JsonFields, PathsOfAnyDepthAndTheirParents) {
  JsonDecoding decoding({"a.b.c", "a", "a.b", "a.x", "top"});
  decoding.decode({R"({"top":1,"a":{"x":2,"b": {"c":3} }})"});
  ASSERT_EQ(decoding.rows.rows(), 1u);
  EXPECT_EQ(row(decoding, 0), (std::vector{integer(3), owned(Json{R"({"x":2,"b": {"c":3} })"}),
                                           owned(Json{R"({"c":3})"}), integer(2), integer(1)}));
}

TEST(JsonFields, NullWhereAParentIsNoObject) {
  JsonDecoding decoding({"a.b.c", "a"});
  decoding.decode(
      {R"({"a":null})", R"({"a":[{"b":{"c":1}}]})", R"({"a":{"b":7}})", R"({"a":{}})", R"({"a":"b"})", "{}"});
  ASSERT_EQ(decoding.rows.rows(), 6u);
  for (std::size_t i = 0; i < 6; ++i) EXPECT_EQ(decoding.cell(i, 0), Value(Null{})) << i;
  EXPECT_EQ(owned(decoding.cell(1, 1)), owned(Json{R"([{"b":{"c":1}}])"}));
  EXPECT_EQ(owned(decoding.cell(2, 1)), owned(Json{R"({"b":7})"}));
}

TEST(JsonFields, NestedNameIsNotTakenForAnOuterOne) {
  JsonDecoding decoding({"id", "other.id"});
  decoding.decode({R"({"x":{"id":1},"y":[{"id":2}],"other":{"z":{"id":3},"id":4}})"});
  EXPECT_EQ(row(decoding, 0), (std::vector{null, integer(4)}));
}

TEST(JsonFields, OneFieldIntoSeveralCells) {
  JsonDecoding decoding({"a", "a", "a.b", "a.b"});
  decoding.decode({R"({"a":{"b":5}})"});
  const auto object = owned(Json{R"({"b":5})"});
  EXPECT_EQ(row(decoding, 0), (std::vector{object, object, integer(5), integer(5)}));
}

TEST(JsonFields, OfDuplicatesTheLastCounts) {
  JsonDecoding decoding({"a", "b.c", "b.d"});
  decoding.decode({R"({"a":1,"a":2})", R"({"a":1,"a":null})", R"({"b":{"c":1,"d":2},"b":{"c":3}})",
                   R"({"b":{"c":1},"b":4})", R"({"a":1,"\u0061":6})", R"({"b":{"c":1,"c":2}})"});
  ASSERT_EQ(decoding.rows.rows(), 6u);
  EXPECT_EQ(row(decoding, 0), (std::vector{integer(2), null, null}));
  EXPECT_EQ(row(decoding, 1), (std::vector{null, null, null}));
  EXPECT_EQ(row(decoding, 2), (std::vector{null, integer(3), null}));
  EXPECT_EQ(row(decoding, 3), (std::vector{null, null, null}));
  EXPECT_EQ(row(decoding, 4), (std::vector{integer(6), null, null}));
  EXPECT_EQ(row(decoding, 5), (std::vector{null, integer(2), null}));
}

TEST(JsonFields, NamesAreComparedUnescaped) {
  RowShape shape;
  for (const char* name : {"a/b", "x\\y", "q\"r", "z", "caf\xC3\xA9", "tab\t", ""}) {
    shape.cells.push_back({CellSource::From::value_path, {name}});
  }
  JsonDecoding decoding(shape);
  const std::string text = R"({"a\/b":1,"x\\y":2,"q\"r":3,"\u007a":4,"caf\u00E9":5,"tab\t":6,"":7,"x\by":8,"a\\/b":9})";
  // The second time every name is known; what is guessed must not take one spelling for another's name.
  decoding.decode({text, text, text});
  ASSERT_EQ(decoding.rows.rows(), 3u);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(row(decoding, i),
              (std::vector{integer(1), integer(2), integer(3), integer(4), integer(5), integer(6), integer(7)}));
  }
}

// What is written x\ny is a name with a line feed, not the name x\ny, though the bytes are the same.
TEST(JsonFields, ASpellingIsNotTakenForTheNameWithTheSameBytes) {
  RowShape shape;
  shape.cells.push_back({CellSource::From::value_path, {"x\\ny"}});
  JsonDecoding decoding(shape);
  decoding.decode({R"({"x\\ny":1})", R"({"x\ny":2})", R"({"x\\ny":3})"});
  EXPECT_EQ(owned(decoding.cell(0, 0)), integer(1));
  EXPECT_EQ(owned(decoding.cell(1, 0)), null);
  EXPECT_EQ(owned(decoding.cell(2, 0)), integer(3));
}

TEST(JsonFields, NamesThatShareTheirBeginning) {
  JsonDecoding decoding({"order", "order_id", "order_identifier_of_customer", "o"});
  const std::string text = R"({"order":1,"order_id":2,"order_identifier_of_customer":3,"o":4,"order_i":5})";
  decoding.decode({text, text, R"({"order_id":2,"order_identifier_of_custome_":9,"order":1,"o":4})"});
  EXPECT_EQ(row(decoding, 1), (std::vector{integer(1), integer(2), integer(3), integer(4)}));
  EXPECT_EQ(row(decoding, 2), (std::vector{integer(1), integer(2), null, integer(4)}));
}

// Any order, any subset, unwanted fields in between: the guess is only ever a guess.
TEST(JsonFields, ShuffledAndMissingFields) {
  constexpr std::size_t columns = 12;
  std::vector<std::string> names;
  for (std::size_t i = 0; i < columns; ++i) names.push_back(std::string(1 + i * 2, static_cast<char>('a' + i % 3)));
  JsonDecoding decoding(names);
  std::mt19937_64 random(7);
  std::vector<std::string> texts;
  std::vector<std::vector<testing::OwnedCell>> expected;
  for (int record = 0; record < 2'000; ++record) {
    std::vector<std::size_t> order(columns);
    for (std::size_t i = 0; i < columns; ++i) order[i] = i;
    if (record % 3 != 0) std::shuffle(order.begin(), order.end(), random);
    std::vector<testing::OwnedCell> cells(columns, null);
    std::string text;
    for (const std::size_t column : order) {
      if (random() % 5 == 0) text += "\"extra" + std::to_string(random() % 2'000) + "\":[0],";
      if (random() % 5 == 0) continue;
      const auto number = static_cast<std::int64_t>(random());
      text += "\"" + names[column] + "\":" + std::to_string(number) + ",";
      cells[column] = integer(number);
    }
    if (!text.empty()) text.pop_back();
    texts.push_back("{" + text + "}");
    expected.push_back(cells);
  }
  decoding.decode(texts);
  ASSERT_EQ(decoding.rows.rows(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_EQ(row(decoding, i), expected[i]) << texts[i];
}

TEST(JsonFields, GuessesTheFieldThatFollowedLastTime) {
  JsonObjectFields fields;
  JsonField& b = fields.want("b", "b");
  JsonField* field = nullptr;
  const auto first = fields.look_up(JsonObjectFields::start, "a", field);
  EXPECT_EQ(field, nullptr);
  const auto second = fields.look_up(first, "b", field);
  EXPECT_EQ(field, &b);
  EXPECT_EQ(fields.guess(JsonObjectFields::start), "\"a\"");
  EXPECT_EQ(fields.guess(first), "\"b\"");
  EXPECT_EQ(fields.guessed(first), second);
  EXPECT_EQ(fields.guess(second), "");
}

TEST(JsonFields, RemembersABoundedNumberOfUnwantedNames) {
  JsonObjectFields fields;
  JsonField& wanted = fields.want("wanted", "wanted");
  JsonField* field = nullptr;
  JsonObjectFields::Place place = JsonObjectFields::start;
  JsonObjectFields::Place largest = place;
  for (int i = 0; i < 100'000; ++i) {
    place = fields.look_up(place, "user-" + std::to_string(i), field);
    EXPECT_EQ(field, nullptr);
    largest = std::max(largest, place);
  }
  EXPECT_LT(largest, 1'000u);
  fields.look_up(place, "wanted", field);
  EXPECT_EQ(field, &wanted);
}

}  // namespace
}  // namespace sluice
