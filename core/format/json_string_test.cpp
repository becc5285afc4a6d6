#include "core/format/json_string.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>

namespace sluice {
namespace {

std::optional<std::string> unescaped(std::string_view raw) {
  std::string out(raw.size(), '?');
  std::size_t length = 0;
  if (!unescape_json(raw, out.data(), length)) return std::nullopt;
  out.resize(length);
  return out;
}

TEST(JsonString, KnowsEveryEscape) {
  EXPECT_EQ(unescaped(""), "");
  EXPECT_EQ(unescaped("plain"), "plain");
  EXPECT_EQ(unescaped(R"(\"\\\/\b\f\n\r\t)"), "\"\\/\b\f\n\r\t");
  EXPECT_EQ(unescaped(R"(a\u0000b)"), std::string("a\0b", 3));
  EXPECT_EQ(unescaped(R"(\u0041\u00e9\u20AC\uFFFF)"), "A\xC3\xA9\xE2\x82\xAC\xEF\xBF\xBF");
  EXPECT_EQ(unescaped(R"(\ud83d\ude00!)"), "\xF0\x9F\x98\x80!");
  EXPECT_EQ(unescaped(R"(\uD800\uDC00\uDBFF\uDFFF)"), "\xF0\x90\x80\x80\xF4\x8F\xBF\xBF");
}

TEST(JsonString, RefusesWrongEscapes) {
  for (const std::string_view raw : {R"(\)", R"(\x)", R"(\u)", R"(\u12)", R"(\u12g4)", R"(\U0041)", R"(\')", R"(\0)"}) {
    EXPECT_EQ(unescaped(raw), std::nullopt) << raw;
  }
}

TEST(JsonString, RefusesHalfASurrogatePair) {
  for (const std::string_view raw : {R"(\ud83d)", R"(\ude00)", R"(\ud83dx)", R"(\ud83d\n)", R"(\ud83d\u0041)",
                                     R"(\ud83d\ud83d)", R"(\ud83d\ude0)", R"(\ude00\ud83d)"}) {
    EXPECT_EQ(unescaped(raw), std::nullopt) << raw;
  }
}

}  // namespace
}  // namespace sluice
