#include "sinks/sqlite/describe.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "sinks/sqlite/temporary_database.h"

namespace sluice::sqlite {
namespace {

using sql::Family;
using Keys = std::vector<std::vector<std::string>>;

class SqliteDescribeTest : public TemporaryDatabase {
 protected:
  sql::Table described(const std::string& ddl, const std::string& name = "t") {
    session_.execute(ddl);
    auto table = describe(session_, name);
    if (!table) throw std::runtime_error("no table " + name);
    return *table;
  }

  SqliteSession session_ = session();
};

TEST_F(SqliteDescribeTest, ColumnsInTheirOrder) {
  const auto table = described(
      "CREATE TABLE t (id INTEGER PRIMARY KEY, name VARCHAR(9) NOT NULL, price DECIMAL(10,2), made TIMESTAMP DEFAULT "
      "CURRENT_TIMESTAMP, raw BLOB, \"odd \"\"name\" JSON, any, twice INT GENERATED ALWAYS AS (id * 2), kept INT AS "
      "(id) STORED)");
  ASSERT_EQ(table.columns.size(), 9U);
  EXPECT_EQ(table.name, "t");
  const auto families = [&] {
    std::vector<Family> result;
    for (const auto& column : table.columns) result.push_back(column.family);
    return result;
  }();
  EXPECT_EQ(families, (std::vector<Family>{Family::int64, Family::text, Family::numeric, Family::timestamp,
                                           Family::bytes, Family::json, Family::other, Family::int64, Family::int64}));
  EXPECT_EQ(table.columns[5].name, "odd \"name");
  EXPECT_EQ(table.columns[2].type_name, "DECIMAL(10,2)");
  EXPECT_FALSE(table.columns[2].precision.has_value());  // SQLite does not hold rows to it
  EXPECT_FALSE(table.columns[1].nullable);
  EXPECT_TRUE(table.columns[2].nullable);
  EXPECT_TRUE(table.columns[0].has_default);
  EXPECT_FALSE(table.columns[0].nullable);
  EXPECT_FALSE(table.columns[1].has_default);
  EXPECT_TRUE(table.columns[3].has_default);
  EXPECT_FALSE(table.columns[6].generated);
  EXPECT_TRUE(table.columns[7].generated);
  EXPECT_TRUE(table.columns[8].generated);
  EXPECT_TRUE(table.has_primary_key);
  EXPECT_EQ(table.unique_keys, (Keys{{"id"}}));
}

TEST_F(SqliteDescribeTest, KeysThatARowCanBeFoundBy) {
  const auto table = described(
      "CREATE TABLE t (a TEXT, b INT, c INT UNIQUE, d TEXT, PRIMARY KEY (b, a)); CREATE UNIQUE INDEX u ON t (d, c);"
      "CREATE UNIQUE INDEX partial ON t (d) WHERE c > 0; CREATE UNIQUE INDEX expression ON t (lower(d)); CREATE INDEX "
      "i ON t (d)");
  EXPECT_TRUE(table.has_primary_key);
  ASSERT_FALSE(table.unique_keys.empty());
  EXPECT_EQ(table.unique_keys.front(), (std::vector<std::string>{"b", "a"}));
  Keys others(table.unique_keys.begin() + 1, table.unique_keys.end());
  std::sort(others.begin(), others.end());
  EXPECT_EQ(others, (Keys{{"c"}, {"d", "c"}}));
  EXPECT_FALSE(table.columns[0].nullable);
  EXPECT_FALSE(table.columns[1].has_default);
}

TEST_F(SqliteDescribeTest, TablesWithoutRowNumberOrKey) {
  const auto keyed = described("CREATE TABLE t (a INTEGER PRIMARY KEY, b) WITHOUT ROWID");
  EXPECT_FALSE(keyed.columns[0].has_default);  // no row number stands behind it
  EXPECT_FALSE(keyed.columns[0].nullable);
  EXPECT_EQ(keyed.unique_keys, (Keys{{"a"}}));
  const auto bare = described("CREATE TABLE u (a)", "u");
  EXPECT_FALSE(bare.has_primary_key);
  EXPECT_TRUE(bare.unique_keys.empty());
  const auto descending = described("CREATE TABLE v (a BIGINT PRIMARY KEY)", "v");
  EXPECT_FALSE(descending.columns[0].has_default);  // only the type INTEGER makes a row number of it
}

TEST_F(SqliteDescribeTest, NamesAreLookedUpExactly) {
  session_.execute("CREATE TABLE Orders (a); CREATE VIEW seen AS SELECT 1; CREATE TABLE \"o'r \"\"d\" (\"x y\" TEXT)");
  EXPECT_FALSE(describe(session_, "orders").has_value());
  EXPECT_TRUE(describe(session_, "Orders").has_value());
  EXPECT_FALSE(describe(session_, "seen").has_value());
  EXPECT_FALSE(describe(session_, "main.Orders").has_value());
  ASSERT_TRUE(describe(session_, "o'r \"d").has_value());
  EXPECT_EQ(describe(session_, "o'r \"d")->columns.at(0).name, "x y");
}

}  // namespace
}  // namespace sluice::sqlite
