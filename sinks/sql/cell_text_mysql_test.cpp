// What columns of MySQL and MariaDB add to the rules.
#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "sinks/sql/cell_text.h"

namespace sluice::sql {
namespace {

Column column(Family family) {
  Column result;
  result.name = "c";
  result.family = family;
  return result;
}

std::string shown(const Value& value, const Column& target, CellRules rules = {}) {
  CellBuffer buffer;
  const CellText cell = cell_text(value, target, buffer, rules);
  return cell.form == CellForm::refused ? "refused" : std::string(cell.text);
}

TEST(CellTextOfMysql, ARangeNarrowsOrWidensAnInteger) {
  Column byte = column(Family::int16);
  byte.range = IntegerRange{-128, 127};
  EXPECT_EQ(shown(std::int64_t{-128}, byte), "-128");
  EXPECT_EQ(shown(std::int64_t{-129}, byte), "refused");
  EXPECT_EQ(shown(std::int64_t{128}, byte), "refused");
  Column large = column(Family::int64);
  large.range = IntegerRange{0, std::numeric_limits<std::uint64_t>::max()};
  EXPECT_EQ(shown(Decimal{"18446744073709551615"}, large), "18446744073709551615");
  EXPECT_EQ(shown(Text{"1.8446744073709551615e19"}, large), "18446744073709551615");
  EXPECT_EQ(shown(Decimal{"18446744073709551616"}, large), "refused");
  EXPECT_EQ(shown(std::int64_t{-1}, large), "refused");
  EXPECT_EQ(shown(Decimal{"-0"}, large), "0");
  EXPECT_EQ(shown(std::int64_t{7}, large), "7");
  Column year = column(Family::int16);
  year.range = IntegerRange{1901, 2155};
  EXPECT_EQ(shown(std::int64_t{5}, year), "refused") << "a server would make 2005 of it";
}

TEST(CellTextOfMysql, ABooleanMayBeAWholeNumberOfOneByte) {
  Column byte = column(Family::boolean);
  byte.range = IntegerRange{-128, 127};
  const CellRules digits{.boolean_digits = true};
  EXPECT_EQ(shown(true, byte, digits), "1");
  EXPECT_EQ(shown(Text{"false"}, byte, digits), "0");
  EXPECT_EQ(shown(std::int64_t{-5}, byte, digits), "-5");
  EXPECT_EQ(shown(std::int64_t{128}, byte, digits), "refused");
  EXPECT_EQ(shown(std::int64_t{1}, column(Family::boolean), digits), "refused") << "where it is none";
}

TEST(CellTextOfMysql, AListHoldsWhatAColumnAllows) {
  Column one = column(Family::enumeration);
  one.allowed = {"a", "b", "10"};
  EXPECT_EQ(shown(Text{"b"}, one), "b");
  EXPECT_EQ(shown(Text{"c"}, one), "refused");
  EXPECT_EQ(shown(Text{"2"}, one), "refused") << "a server would take it for the second value";
  EXPECT_EQ(shown(std::int64_t{10}, one), "10");
  Column some = column(Family::set);
  some.allowed = {"r", "w"};
  EXPECT_EQ(shown(Text{"r,w"}, some), "r,w");
  EXPECT_EQ(shown(Text{""}, some), "");
  EXPECT_EQ(shown(Text{"r,x"}, some), "refused");
  EXPECT_EQ(shown(std::int64_t{3}, some), "refused");
}

}  // namespace
}  // namespace sluice::sql
