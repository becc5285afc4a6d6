#include "sinks/mysql/describe.h"

#include <gtest/gtest.h>

namespace sluice::mysql {
namespace {

using sql::Family;

sql::Column column(const std::string& type, const std::string& whole, std::optional<std::string> characters = {},
                   std::optional<std::string> digits = {}, std::optional<std::string> scale = {}) {
  return column_from(
      {"c", type, whole, std::move(characters), std::move(digits), std::move(scale), "YES", std::nullopt, "", ""});
}

TEST(MysqlDescribe, WholeNumbersHaveTheRangeOfTheirType) {
  EXPECT_FALSE(column("int", "int").range) << "the family has it";
  EXPECT_FALSE(column("bigint", "bigint").range);
  EXPECT_EQ(column("tinyint", "tinyint(1)").family, Family::boolean);
  EXPECT_EQ(column("tinyint", "tinyint(1)").range->min, -128);
  EXPECT_EQ(column("tinyint", "tinyint unsigned").range->max, 255U);
  EXPECT_EQ(column("mediumint", "mediumint").range->max, 8'388'607U);
  EXPECT_EQ(column("bigint", "bigint unsigned").range->max, 18'446'744'073'709'551'615U);
  EXPECT_EQ(column("bit", "bit(5)", {}, "5").range->max, 31U);
  EXPECT_EQ(column("bit", "bit(64)", {}, "64").range->max, 18'446'744'073'709'551'615U);
  EXPECT_EQ(column("bit", "bit(1)", {}, "1").family, Family::boolean);
  EXPECT_EQ(column("year", "year").range->min, 1901);
}

TEST(MysqlDescribe, LengthsCountWhatTheTypeCounts) {
  EXPECT_EQ(column("varchar", "varchar(20)", "20").length_max, 20);
  EXPECT_FALSE(column("text", "text", "65535").length_max) << "it counts bytes: the server judges";
  EXPECT_EQ(column("varbinary", "varbinary(9)", "9").length_max, 9);
  EXPECT_FALSE(column("longblob", "longblob", "4294967295").length_max);
  EXPECT_EQ(column("decimal", "decimal(65,30)", {}, "65", "30").scale, 30);
}

TEST(MysqlDescribe, ListsHoldTheirValues) {
  EXPECT_EQ(listed_values("enum('a','it''s','x,y','')"), (std::vector<std::string>{"a", "it's", "x,y", ""}));
  EXPECT_EQ(listed_values("enum('a\\\\b','x\\ny')"), (std::vector<std::string>{"a\\b", "x\ny"}));
  EXPECT_EQ(column("set", "set('r','w')").allowed, (std::vector<std::string>{"r", "w"}));
}

}  // namespace
}  // namespace sluice::mysql
