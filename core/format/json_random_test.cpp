// Differential: random documents, valid and damaged, against nlohmann/json.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

#include "core/format/json_fixture.h"

namespace sluice {
namespace {

using nlohmann::json;
using testing::JsonDecoding;

class RandomText {
 public:
  explicit RandomText(std::uint64_t seed) : random_(seed) {}

  std::size_t below(std::size_t bound) { return random_() % bound; }

  std::string object(int depth) {
    std::string text = "{";
    const std::size_t fields = below(6);
    for (std::size_t i = 0; i < fields; ++i) {
      if (i > 0) text += ',';
      text += space() + name() + space() + ':' + space() + value(depth) + space();
    }
    return text + space() + "}";
  }

  // Changes, removes or adds a byte.
  void damage(std::string& text) {
    if (text.empty()) return;
    static constexpr std::string_view bytes = "{}[]:,\"\\ tfn019.-eE+\x01\xC3\xA9x";
    const std::size_t at = below(text.size());
    const char byte = bytes[below(bytes.size())];
    switch (below(3)) {
      case 0:
        text[at] = byte;
        break;
      case 1:
        text.erase(at, 1);
        break;
      default:
        text.insert(at, 1, byte);
        break;
    }
  }

 private:
  std::string space() {
    static constexpr std::string_view spaces[] = {"", "", "", "", " ", "\n\t", "  \r\n"};
    return std::string(spaces[below(std::size(spaces))]);
  }

  std::string name() {
    static constexpr std::string_view names[] = {
        R"("a")", R"("b")", R"("c")", R"("id")", R"("\u0061")", R"("x\\")", R"("customer number")", R"("")", R"("d")"};
    return std::string(names[below(std::size(names))]);
  }

  std::string value(int depth) {
    static constexpr std::string_view numbers[] = {
        "0",        "-0",          "-1", "1.5", "-0.25e-3", "9223372036854775807", "1E5", "-9223372036854775808",
        "12345678", "123456789012"};
    switch (below(depth > 0 ? 8 : 6)) {
      case 0:
        return std::string(numbers[below(std::size(numbers))]);
      case 1:
        return std::to_string(static_cast<std::int64_t>(random_()) >> below(64));
      case 2:
        return below(2) == 0 ? "true" : "false";
      case 3:
        return "null";
      case 4:
      case 5:
        return string();
      case 6:
        return object(depth - 1);
      default:
        return array(depth - 1);
    }
  }

  std::string array(int depth) {
    std::string text = "[" + space();
    const std::size_t items = below(4);
    for (std::size_t i = 0; i < items; ++i) text += (i > 0 ? "," : "") + space() + value(depth) + space();
    return text + "]";
  }

  std::string string() {
    static constexpr std::string_view parts[] = {
        "a", "plain text",       R"(\n)", R"(\u00e9)", "\xC3\xA9",        "{", R"(\\)", R"(\")", ":",
        ",", "\xF0\x9F\x98\x80", "]",     R"(\u0000)", R"(\ud83d\ude00)", " "};
    std::string text = "\"";
    const std::size_t count = below(8);
    for (std::size_t i = 0; i < count; ++i) text += parts[below(std::size(parts))];
    return text + "\"";
  }

  std::mt19937_64 random_;
};

void expect_same(const Value& cell, const json& expected, const std::string& text) {
  if (expected.is_null()) {
    EXPECT_TRUE(std::holds_alternative<Null>(cell)) << text;
  } else if (expected.is_boolean()) {
    EXPECT_EQ(cell, Value(expected.get<bool>())) << text;
  } else if (expected.is_number_integer() && expected <= std::numeric_limits<std::int64_t>::max()) {
    EXPECT_EQ(cell, Value(expected.get<std::int64_t>())) << text;
  } else if (expected.is_number()) {
    ASSERT_TRUE(std::holds_alternative<Decimal>(cell)) << text;
    EXPECT_EQ(json::parse(std::get<Decimal>(cell).digits), expected) << text;
  } else if (expected.is_string()) {
    EXPECT_EQ(cell, Value(Text{expected.get_ref<const std::string&>()})) << text;
  } else {
    ASSERT_TRUE(std::holds_alternative<Json>(cell)) << text;
    EXPECT_EQ(json::parse(std::get<Json>(cell).text), expected) << text;
  }
}

json at_path(const json& document, const CellSource& source) {
  const json* at = &document;
  for (const auto& step : source.path) {
    if (!at->is_object() || !at->contains(step)) return nullptr;
    at = &at->at(step);
  }
  return *at;
}

RowShape random_shape() {
  RowShape shape = testing::shape_of({"a", "b", "a.b", "a.a.c", "id", "customer number", "c.id", "d"});
  shape.cells.push_back({CellSource::From::value_path, {"x\\"}});
  shape.cells.push_back({CellSource::From::value_path, {"", "a"}});
  return shape;
}

// The other parser refuses numbers that no double can hold, which are none of our concern.
bool is_comparable(const std::string& text) {
  try {
    return !json::parse(text).is_discarded();
  } catch (const json::out_of_range&) {
    return false;
  } catch (const json::parse_error&) {
    return true;
  }
  return true;
}

// Decodes `texts` as one poll and compares every row, and which texts give none.
void compare(const RowShape& shape, const std::vector<std::string>& texts, std::size_t& valid) {
  JsonDecoding decoding(shape);
  decoding.decode(texts);
  std::size_t row = 0;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const json document = json::parse(texts[i], nullptr, false);
    const bool decoded = row < decoding.rows.rows() && decoding.rows.origin(row).offset == static_cast<std::int64_t>(i);
    ASSERT_EQ(decoded, document.is_object()) << texts[i];
    if (!decoded) continue;
    for (std::size_t column = 0; column < shape.cells.size(); ++column) {
      expect_same(decoding.cell(row, column), at_path(document, shape.cells[column]), texts[i]);
    }
    ++row;
    ++valid;
  }
  EXPECT_EQ(row, decoding.rows.rows());
  EXPECT_EQ(texts.size(), decoding.rows.rows() + decoding.rejects.size());
}

TEST(JsonRandom, DecodesAsAnotherParserDoes) {
  std::size_t valid = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomText random(seed);
    std::vector<std::string> texts;
    for (int i = 0; i < 100; ++i) texts.push_back(random.object(4));
    compare(random_shape(), texts, valid);
  }
  EXPECT_EQ(valid, 4'000u);
}

TEST(JsonRandom, RejectsWhatAnotherParserRejects) {
  std::size_t valid = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomText random(seed);
    std::vector<std::string> texts;
    for (int i = 0; i < 200; ++i) {
      texts.push_back(random.object(3));
      for (std::size_t damages = random.below(4); damages > 0; --damages) random.damage(texts.back());
      if (!is_comparable(texts.back())) texts.pop_back();
    }
    compare(random_shape(), texts, valid);
  }
  EXPECT_GT(valid, 2'000u);  // both outcomes are well represented
  EXPECT_LT(valid, 6'000u);
}

}  // namespace
}  // namespace sluice
