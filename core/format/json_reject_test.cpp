// Records that are not one valid JSON object.
#include <gtest/gtest.h>

#include <span>
#include <string>
#include <vector>

#include "core/format/json_fixture.h"

namespace sluice {
namespace {

using testing::JsonDecoding;
using testing::reason_of;

const std::vector<std::string> broken_documents = {
    "",
    " \n",
    "{",
    "}",
    "{\"v\"",
    "{\"v\":",
    "{\"v\":1",
    "{\"v\":1,",
    "{\"v\":1,}",
    "{,\"v\":1}",
    "{\"v\" 1}",
    "{\"v\"::1}",
    "{\"v\":1 \"w\":2}",
    "{\"v\":1,,\"w\":2}",
    "{v:1}",
    "{'v':1}",
    "{\"v\":'a'}",
    "{1:2}",
    "{null:1}",
    "{\"v\":1}}",
    "{\"v\":1}{\"v\":2}",
    "{\"v\":1} x",
    "{\"v\":1}\n{",
    "{\"v\":1},",
    "{\"v\":[1}",
    "{\"v\":[1]]}",
    "{\"v\":{]}",
    "{\"v\":[}]}",
    "{\"v\":[1,]}",
    "{\"v\":[,1]}",
    "{\"v\":[1 2]}",
    "{\"v\":{\"a\"}}",
    "{\"v\":{\"a\":1,}}",
    "{\"v\":{1:1}}",
    "{\"v\":[\"a\":1]}",
    "{\"v\":\"abc",
    "{\"v\":\"abc\\\"}",
    "{\"v\":\"a\nb\"}",
    std::string("{\"v\":\"a\0b\"}", 11),
    "{\"v\":\"a\"b}",
    "{\"v\":\"a\"\"b\"}",
    "{\"v\":\"\\x\"}",
    "{\"v\":\"\\u12\"}",
    "{\"v\":\"\\ud800\"}",
    "{\"v\":\"\\udc00 x\"}",
    "{\"v\":\"\xFF\"}",
    "{\"v\":\"\xC3\"}",
    "{\"v\":\"\xED\xA0\x80\"}",
    "{\"v\":\"\xC0\x80\"}",
    "{\"v\":tru}",
    "{\"v\":truefalse}",
    "{\"v\":True}",
    "{\"v\":nul}",
    "{\"v\":nulll}",
    "{\"v\":NaN}",
    "{\"v\":Infinity}",
    "{\"v\":-}",
    "{\"v\":+1}",
    "{\"v\":01}",
    "{\"v\":1.}",
    "{\"v\":.5}",
    "{\"v\":1e}",
    "{\"v\":0x1}",
    "{\"v\":1a}",
    "{\"v\":--1}",
    "{\"v\":1 1}",
    "{\"v\":}",
    "{\"v\":,\"w\":1}",
    "{\"v\"}",
    "{\"v\",\"w\"}",
    "{\"v\":1;\"w\":2}",
    "{\"v\":/*c*/1}",
    "{\"v\":1}//c",
    "{\"v\":1\f}",
    std::string("{\"v\":1\0}", 8),
    std::string("{\"v\":1}\0", 8),
    "\xEF\xBB\xBF{\"v\":1}",
    "{\"\\ud800\":1}",
    "{\"v\":\x1A}",
    "{\"v\"\x1A 1}",
    "{\"v\":1\x0C\"w\":2}",
    "nul",
    "tru",
    "\"a",
    "1.",
    "[1,",
    "[1}",
};

TEST(JsonReject, BrokenDocuments) {
  for (const auto& text : broken_documents) {
    const std::string reason = reason_of(text);
    EXPECT_TRUE(reason.starts_with("not valid JSON")) << text << " -> " << reason;
    // The same inside a field that nobody wants, and below one of which only a part is wanted.
    for (const std::string around : {"{\"unwanted\":", "{\"deep\":", "{\"deep\":{\"inner\":", "{\"v\":[0,"}) {
      const std::string end = around.ends_with("0,") ? "]}" : around.ends_with("inner\":") ? "}}" : "}";
      EXPECT_FALSE(reason_of(around + text + end).empty()) << around + text + end;
    }
  }
}

TEST(JsonReject, OtherKindsOfValueAreNamed) {
  EXPECT_EQ(reason_of("[{\"v\":1}]"), "the value is a JSON array, an object is needed");
  EXPECT_EQ(reason_of(" \"secret\" "), "the value is a JSON string, an object is needed");
  EXPECT_EQ(reason_of("12"), "the value is a JSON number, an object is needed");
  EXPECT_EQ(reason_of("true"), "the value is a JSON boolean, an object is needed");
  EXPECT_EQ(reason_of("null"), "the value is a JSON null, an object is needed");
}

TEST(JsonReject, SaysWhereAndWhyWithoutTheValue) {
  EXPECT_EQ(reason_of(R"({"v":1,"w" 2})"), "not valid JSON at byte 11: a colon is needed");
  EXPECT_EQ(reason_of(R"({"v":secret})"), "not valid JSON at byte 5: a value is needed");
  EXPECT_EQ(reason_of(R"({"v":012345})"), "not valid JSON at byte 5: this is not a number by JSON's rules");
  EXPECT_EQ(reason_of(R"({"v":1)"), "not valid JSON at byte 6: the value ends in the middle");
  EXPECT_EQ(reason_of("{\"v\":\"\xFFsecret\"}"), "not valid JSON: the bytes are not UTF-8");
  EXPECT_EQ(reason_of(R"({"v":"secret)"), "not valid JSON: a string is not closed");
  EXPECT_EQ(reason_of(R"({"v":"secret\q"})"), "not valid JSON at byte 5: a string holds a wrong escape");
  EXPECT_EQ(reason_of(R"({"v":1} {"v":2})"), "not valid JSON at byte 8: the JSON value has ended, and more follows");
  EXPECT_EQ(reason_of(""), "not valid JSON: there is no value in it");
}

TEST(JsonReject, HintsAtWhatProducersGetWrong) {
  EXPECT_NE(reason_of("\xEF\xBB\xBF{}").find("byte order mark"), std::string::npos);
  EXPECT_NE(reason_of(std::string("\0\0\0\0\x01{}", 7)).find("schema registry"), std::string::npos);
}

TEST(JsonReject, NamesTheInnermostWantedField) {
  JsonDecoding decoding({"a.b", "c"});
  decoding.decode({R"({"a":{"b":1x}})", R"({"a":{"b":1,"z":nope}})", R"({"c":[1,]})", R"({"z":nope})"});
  ASSERT_EQ(decoding.rejects.size(), 4u);
  EXPECT_EQ(decoding.rejects[0].field, "a.b");
  EXPECT_EQ(decoding.rejects[1].field, "a");
  EXPECT_EQ(decoding.rejects[2].field, "c");
  EXPECT_EQ(decoding.rejects[3].field, "");
}

TEST(JsonReject, GoodRecordsAroundABadOneGoOn) {
  JsonDecoding decoding(std::vector<std::string>{"v"});
  decoding.decode({R"({"v":0})", R"({"v":"half written)", R"({"v":2})", "[]", R"({"v":4})"});
  ASSERT_EQ(decoding.rows.rows(), 3u);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(decoding.cell(i, 0), Value(static_cast<std::int64_t>(2 * i)));
    EXPECT_EQ(decoding.rows.origin(i), (Origin{0, static_cast<std::int64_t>(2 * i)}));
    EXPECT_EQ(decoding.rows.kind(i), RowKind::insert);
  }
  ASSERT_EQ(decoding.rejects.size(), 2u);
  EXPECT_EQ(decoding.rejects[0].origin, (Origin{0, 1}));
  EXPECT_EQ(decoding.rejects[1].origin, (Origin{0, 3}));
}

// What a rejected record had already filled must not be seen in the next row.
TEST(JsonReject, LeavesNothingBehind) {
  JsonDecoding decoding({"v", "w"});
  decoding.decode({R"({"v":"left over","w":!})", R"({"w":1})"});
  ASSERT_EQ(decoding.rows.rows(), 1u);
  EXPECT_EQ(decoding.cell(0, 0), Value(Null{}));
  EXPECT_EQ(decoding.cell(0, 1), Value(std::int64_t{1}));
}

// Every beginning of a document is broken, and none makes the reader run over its end.
TEST(JsonReject, EveryTruncation) {
  const std::string text =
      R"({"v": {"a":[1,-2.5e3,"x\u00e9\n",true,null]}, "deep":{"inner":"y","z":{}}, "n":12345678901} )";
  ASSERT_EQ(reason_of(text), "");
  for (std::size_t length = 0; length + 1 < text.size(); ++length) {
    const std::string beginning = text.substr(0, length);
    EXPECT_FALSE(reason_of(beginning).empty()) << length;
    // infer() reads from an allocation of exactly that size, so that the sanitizer sees a byte too far.
    Record record;
    record.value = beginning;
    EXPECT_TRUE(JsonFormat().infer(std::span(&record, 1)).empty()) << length;
  }
}

}  // namespace
}  // namespace sluice
