// From a JSON value to a cell.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "core/format/json_fixture.h"

namespace sluice {
namespace {

using testing::decode_v;
using testing::JsonDecoding;
using testing::owned;

TEST(JsonCells, EveryKindOfValue) {
  JsonDecoding decoding({"i", "d", "t", "f", "n", "s", "o", "a", "missing"});
  decoding.decode({R"({"i":-42,"d":1.50,"t":true,"f":false,"n":null,"s":"x y","o":{"k": [1, 2]},"a":[ ]})"});
  ASSERT_TRUE(decoding.rejects.empty()) << decoding.rejects.front().reason;
  EXPECT_EQ(decoding.cell(0, 0), Value(std::int64_t{-42}));
  EXPECT_EQ(decoding.cell(0, 1), Value(Decimal{"1.50"}));
  EXPECT_EQ(decoding.cell(0, 2), Value(true));
  EXPECT_EQ(decoding.cell(0, 3), Value(false));
  EXPECT_EQ(decoding.cell(0, 4), Value(Null{}));
  EXPECT_EQ(decoding.cell(0, 5), Value(Text{"x y"}));
  EXPECT_EQ(decoding.cell(0, 6), Value(Json{R"({"k": [1, 2]})"}));
  EXPECT_EQ(decoding.cell(0, 7), Value(Json{"[ ]"}));
  EXPECT_EQ(decoding.cell(0, 8), Value(Null{}));
}

TEST(JsonCells, NumbersNeverPassThroughADouble) {
  EXPECT_EQ(decode_v(R"({"v":9223372036854775807})"), owned(std::int64_t{9223372036854775807}));
  EXPECT_EQ(decode_v(R"({"v":9223372036854775808})"), owned(Decimal{"9223372036854775808"}));
  EXPECT_EQ(decode_v(R"({"v":123456789012345678901234567890123456})"),
            owned(Decimal{"123456789012345678901234567890123456"}));
  EXPECT_EQ(decode_v(R"({"v":0.000043129})"), owned(Decimal{"0.000043129"}));
  EXPECT_EQ(decode_v(R"({"v":1e400})"), owned(Decimal{"1e400"}));
  EXPECT_EQ(decode_v(R"({"v":-0})"), owned(std::int64_t{0}));
}

TEST(JsonCells, StringsWithEscapesAreUnescaped) {
  EXPECT_EQ(decode_v(R"({"v":"a\u0000b"})"), owned(Text{std::string_view("a\0b", 3)}));
  EXPECT_EQ(decode_v(R"({"v":"\ud83d\ude00 \"q\" \\ \/"})"), owned(Text{"\xF0\x9F\x98\x80 \"q\" \\ /"}));
  EXPECT_EQ(decode_v("{\"v\":\"na\xC3\xAFve\"}"), owned(Text{"na\xC3\xAFve"}));
  EXPECT_EQ(decode_v(R"({"v":""})"), owned(Text{""}));
  EXPECT_EQ(decode_v(R"({"v":"{\"a\":[1,2]}"})"), owned(Text{R"({"a":[1,2]})"}));
}

TEST(JsonCells, WhiteSpaceAroundValuesIsNoPartOfThem) {
  const std::string space = " \t\r\n ";
  for (const std::string value : {"12", "\"x\"", "true", "1.5", "[1 ]"}) {
    const auto plain = decode_v("{\"v\":" + value + "}");
    ASSERT_TRUE(plain.has_value());
    EXPECT_EQ(decode_v(space + "{" + space + "\"v\"" + space + ":" + space + value + space + "}" + space), plain);
    EXPECT_EQ(decode_v("{\"v\":" + value + space + ",\"w\":0}"), plain);
  }
}

TEST(JsonCells, PlainStringsViewTheOneCopyOfTheValue) {
  JsonDecoding decoding({"v", "w"});
  const std::string text = R"({"v":"seen where it lies","w":"next"})";
  decoding.decode({text});
  const auto v = std::get<Text>(decoding.cell(0, 0)).utf8;
  const auto w = std::get<Text>(decoding.cell(0, 1)).utf8;
  // Both lie in one copy at the distance that they have in the text, and nothing else was put into the arena.
  EXPECT_EQ(static_cast<std::size_t>(w.data() - v.data()), text.find("next") - text.find("seen"));
  EXPECT_EQ(decoding.rows.arena().used(), text.size() + 1);
  EXPECT_EQ(v, "seen where it lies");  // the record's own bytes are overwritten by now
}

TEST(JsonCells, EarlierRowsOfABatchStayValid) {
  JsonDecoding decoding(std::vector<std::string>{"v"});
  for (int i = 0; i < 5'000; ++i) decoding.decode({"{\"v\":\"row " + std::to_string(i) + "\\n\"}"});
  ASSERT_EQ(decoding.rows.rows(), 5'000u);
  for (std::size_t i = 0; i < 5'000; ++i) {
    EXPECT_EQ(decoding.cell(i, 0), Value(Text{"row " + std::to_string(i) + "\n"}));
  }
}

TEST(JsonCells, EmptyObjectIsARowOfNulls) {
  JsonDecoding decoding({"v", "a.b"});
  decoding.decode({"{}", " { } "});
  ASSERT_EQ(decoding.rows.rows(), 2u);
  EXPECT_EQ(decoding.cell(1, 0), Value(Null{}));
  EXPECT_EQ(decoding.cell(1, 1), Value(Null{}));
}

TEST(JsonCells, LargeDocumentBetweenSmallOnes) {
  std::string large = R"({"v":1,"items":[)";
  while (large.size() < 10'000'000) large += R"({"sku":"a,b]}","n":[1,2,{"x":null}]},)";
  large += R"("end"],"w":"behind"})";
  JsonDecoding decoding({"v", "w", "items"});
  decoding.decode({R"({"v":0})", large, R"({"v":2})"});
  ASSERT_TRUE(decoding.rejects.empty()) << decoding.rejects.front().reason;
  EXPECT_EQ(decoding.cell(1, 0), Value(std::int64_t{1}));
  EXPECT_EQ(decoding.cell(1, 1), Value(Text{"behind"}));
  EXPECT_GT(std::get<Json>(decoding.cell(1, 2)).text.size(), 9'900'000u);
  EXPECT_EQ(decoding.cell(2, 0), Value(std::int64_t{2}));
}

TEST(JsonCells, NestingUpToTheLimit) {
  const auto nested = [](std::size_t depth) {
    return "{\"v\":" + std::string(depth, '[') + std::string(depth, ']') + "}";
  };
  EXPECT_TRUE(decode_v(nested(1024)).has_value());
  EXPECT_FALSE(decode_v(nested(1025)).has_value());
  EXPECT_FALSE(decode_v(nested(1'000'000)).has_value());
}

}  // namespace
}  // namespace sluice
