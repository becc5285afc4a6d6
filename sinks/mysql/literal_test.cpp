#include "sinks/mysql/literal.h"

#include <gtest/gtest.h>

#include <string>

namespace sluice::mysql {
namespace {

using sql::CellForm;
using sql::CellText;
using sql::Family;

std::string literal(const CellText& cell, Family family) {
  sql::Column column;
  column.family = family;
  std::string text;
  append_literal(cell, column, text);
  return text;
}

TEST(MysqlLiteral, QuotesAndBackslashesCannotEndIt) {
  EXPECT_EQ(literal({CellForm::text, R"(it's \ "x")"}, Family::text), R"('it\'s \\ "x"')");
  EXPECT_EQ(literal({CellForm::text, std::string_view("a\0b", 3)}, Family::text), R"('a\0b')");
  EXPECT_EQ(literal({CellForm::text, ""}, Family::text), "''");
}

TEST(MysqlLiteral, OnlyWholeNumbersStandBare) {
  EXPECT_EQ(literal({CellForm::plain, "-12"}, Family::int64), "-12");
  EXPECT_EQ(literal({CellForm::plain, "1"}, Family::boolean), "1") << "in quotes a bit would be the letter's";
  EXPECT_EQ(literal({CellForm::plain, "1e3"}, Family::numeric), "'1e3'");
  EXPECT_EQ(literal({CellForm::plain, "7"}, Family::text), "'7'");
  EXPECT_EQ(literal({CellForm::null, {}}, Family::int64), "NULL");
  EXPECT_EQ(literal({CellForm::bytes, std::string_view("\0\xff", 2)}, Family::bytes), "x'00ff'");
}

TEST(MysqlLiteral, ArgumentsAreTextBytesAndNumbers) {
  std::string text;
  for (const Value& value : {Value(Text{"a'b"}), Value(Bytes{"A"}), Value(std::int64_t{-5}), Value(Null{})}) {
    append_literal(value, text);
    text += ' ';
  }
  EXPECT_EQ(text, R"('a\'b' x'41' -5 NULL )");
}

}  // namespace
}  // namespace sluice::mysql
