#include "sinks/sqlite/loader.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "sinks/sqlite/describe.h"
#include "sinks/sqlite/temporary_database.h"

namespace sluice::sqlite {
namespace {

using sql::InsertMode;

class SqliteLoaderTest : public TemporaryDatabase {
 protected:
  sql::LoadPlan plan(const std::string& ddl, InsertMode mode = InsertMode::insert, std::vector<std::size_t> key = {}) {
    session_.execute(ddl);
    sql::LoadPlan result;
    result.table = "t";
    result.columns = describe(session_, "t").value().columns;
    result.key = std::move(key);
    result.mode = mode;
    return result;
  }

  static Batch batch(const std::vector<std::vector<Value>>& rows) {
    Batch result(rows.at(0).size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const auto cells = result.append(RowKind::insert, {0, static_cast<std::int64_t>(100 + i)});
      std::copy(rows[i].begin(), rows[i].end(), cells.begin());
    }
    return result;
  }

  void load(const sql::LoadPlan& target, const std::vector<std::vector<Value>>& rows) {
    session_.begin();
    SqliteLoader loader(session_, target);
    const Batch loaded = batch(rows);
    rejects_.clear();
    loader.add(loaded, 0, loaded.rows(), rejects_);
    loader.finish();
    session_.commit();
  }

  // "type:text" of one value after it was stored in a column of that type, or "refused: reason".
  std::string stored(const std::string& type, const Value& value) {
    session_.rollback();
    session_.execute("DROP TABLE IF EXISTS t");
    load(plan("CREATE TABLE t (c " + type + ")"), {{value}});
    if (!rejects_.empty()) {
      EXPECT_EQ(rejects_[0].field, "c");
      EXPECT_EQ(rejects_[0].of, RejectClass::data);
      return "refused: " + rejects_[0].reason;
    }
    return cell(session_,
                "SELECT typeof(c) || ':' || CASE typeof(c) WHEN 'blob' THEN hex(c) WHEN 'real' THEN "
                "printf('%!.17g', c) ELSE c END FROM t");
  }

  bool refused(const std::string& type, const Value& value) { return stored(type, value).rfind("refused: ", 0) == 0; }

  SqliteSession session_ = session();
  std::vector<Reject> rejects_;  // of the last load()
};

TEST_F(SqliteLoaderTest, EachTypeAtItsLimits) {
  EXPECT_EQ(stored("BIGINT", std::numeric_limits<std::int64_t>::min()), "integer:-9223372036854775808");
  EXPECT_EQ(stored("BIGINT", Decimal{"9223372036854775807"}), "integer:9223372036854775807");
  EXPECT_TRUE(refused("BIGINT", Decimal{"9223372036854775808"}));
  EXPECT_EQ(stored("SMALLINT", std::int64_t{70000}), "integer:70000");
  EXPECT_EQ(stored("BOOLEAN", true), "integer:1");
  EXPECT_EQ(stored("BOOLEAN", Text{"false"}), "integer:0");
  EXPECT_TRUE(refused("BOOLEAN", std::int64_t{1}));
  EXPECT_EQ(stored("REAL", Decimal{"0.1"}), "real:0.10000000000000001");
  EXPECT_EQ(stored("DOUBLE PRECISION", std::int64_t{3}), "real:3.0");
  EXPECT_TRUE(refused("REAL", Decimal{"1e400"}));
  EXPECT_EQ(stored("TEXT", Text{"007"}), "text:007");
  EXPECT_EQ(stored("TEXT", Text{""}), "text:");
  EXPECT_EQ(stored("TEXT", Text{}), "text:");
  EXPECT_EQ(stored("TEXT", Decimal{"123456789012345678901234567890.10"}), "text:123456789012345678901234567890.10");
  EXPECT_TRUE(refused("TEXT", Text{std::string_view("a\0b", 3)}));
  EXPECT_EQ(stored("VARCHAR(2)", Text{"longer"}), "text:longer");
  EXPECT_EQ(stored("BLOB", Bytes{std::string_view("\0\xff", 2)}), "blob:00FF");
  EXPECT_EQ(stored("BLOB", Bytes{}), "blob:");
  EXPECT_EQ(stored("BLOB", Text{"AP8="}), "blob:00FF");
  EXPECT_EQ(stored("JSON", Json{R"({"a":"\u0000"})"}), R"(text:{"a":"\u0000"})");
  EXPECT_EQ(stored("DATE", Text{"2024-02-29"}), "text:2024-02-29");
  EXPECT_TRUE(refused("DATE", Text{"2023-02-29"}));
  EXPECT_EQ(stored("TIME", Text{"12:34"}), "text:12:34:00");
  EXPECT_EQ(stored("TIMESTAMPTZ", Text{"2024-01-01T01:00:00+01:00"}), "text:2024-01-01 00:00:00");
  EXPECT_EQ(stored("TIMESTAMP", Timestamp{1}), "text:1970-01-01 00:00:00.000001");
  EXPECT_EQ(stored("UUID", Text{"12345678901234567890123456789012"}), "text:12345678-9012-3456-7890-123456789012");
  EXPECT_EQ(stored("TEXT", Timestamp{0}), "text:1970-01-01T00:00:00Z");
}

// A NUMERIC column makes a double of what is no 64-bit integer, and keeps 15 digits in silence.
TEST_F(SqliteLoaderTest, ANumericColumnRefusesDigitsThatItWouldLose) {
  EXPECT_EQ(stored("NUMERIC", Decimal{"12345.6789012345"}), "real:12345.6789012345");
  EXPECT_EQ(stored("NUMERIC", Decimal{"9223372036854775807"}), "integer:9223372036854775807");
  EXPECT_EQ(stored("NUMERIC", Decimal{"1.50"}), "real:1.5");
  EXPECT_EQ(stored("NUMERIC", Text{"1e3"}), "integer:1000");
  EXPECT_NE(stored("NUMERIC", Decimal{"1234567890.1234567"}).find("declare the column TEXT"), std::string::npos);
  EXPECT_TRUE(refused("DECIMAL(38,0)", Decimal{"92233720368547758081"}));
  EXPECT_TRUE(refused("NUMERIC", Decimal{"1e400"}));
  EXPECT_EQ(stored("JSON", Decimal{"12"}), "integer:12");
  EXPECT_TRUE(refused("JSON", Decimal{"12345678901234567890"}));
}

// STRING is no type that SQLite knows: it takes it for NUMERIC.
TEST_F(SqliteLoaderTest, TextThatSqliteWouldTurnIntoANumberIsRefused) {
  EXPECT_EQ(stored("STRING", Text{"abc"}), "text:abc");
  EXPECT_EQ(stored("STRING", Text{"2024-01-01"}), "text:2024-01-01");
  EXPECT_EQ(stored("STRING", std::int64_t{12}), "integer:12");
  for (const auto* number : {"007", " 7", "7 ", "+7", "7.", ".7", "7e1", "1e999", "-0.0"}) {
    EXPECT_TRUE(refused("STRING", Text{number})) << number;
    // The premise: SQLite itself would change it.
    session_.execute("INSERT INTO t VALUES (?1)", std::array<Value, 1>{Text{number}});
    EXPECT_NE(cell(session_, "SELECT typeof(c) FROM t"), "text") << number;
  }
  for (const auto* text : {"7e", "e7", "7a", ".", "+", "0x7", "7 7", ""}) {
    EXPECT_EQ(stored("STRING", Text{text}), std::string("text:") + text);
  }
}

TEST_F(SqliteLoaderTest, AColumnWithoutATypeKeepsTheKindOfTheValue) {
  EXPECT_EQ(stored("", std::int64_t{7}), "integer:7");
  EXPECT_EQ(stored("", 0.5), "real:0.5");
  EXPECT_EQ(stored("", true), "integer:1");
  EXPECT_EQ(stored("", Text{"007"}), "text:007");
  EXPECT_EQ(stored("", Bytes{"x"}), "blob:78");
  EXPECT_EQ(stored("", Decimal{"1.10"}), "text:1.10");
}

TEST_F(SqliteLoaderTest, NullNeedsANullableColumn) {
  load(plan("CREATE TABLE t (a INT, b TEXT, c BLOB)"), {{Null{}, Null{}, Null{}}});
  EXPECT_EQ(cell(session_, "SELECT count(*) FROM t WHERE a IS NULL AND b IS NULL AND c IS NULL"), "1");
  EXPECT_TRUE(refused("TEXT NOT NULL DEFAULT 'x'", Null{}));
}

TEST_F(SqliteLoaderTest, WritesOnlyTheRowsAskedFor) {
  const auto target = plan("CREATE TABLE t (a INT)");
  const Batch rows = batch({{std::int64_t{1}}, {std::int64_t{2}}, {std::int64_t{3}}});
  session_.begin();
  SqliteLoader loader(session_, target);
  loader.add(rows, 1, 2, rejects_);
  loader.finish();
  loader.add(rows, 2, 3, rejects_);
  loader.finish();
  session_.commit();
  EXPECT_EQ(cell(session_, "SELECT group_concat(a) FROM t"), "2,3");
}

TEST_F(SqliteLoaderTest, UpsertChangesTheRowOfItsKeyOnly) {
  const auto target = plan(
      "CREATE TABLE t (a INTEGER PRIMARY KEY, b TEXT, c INT UNIQUE); CREATE TABLE child (a INTEGER REFERENCES t (a) ON "
      "DELETE "
      "CASCADE); INSERT INTO t VALUES (1, 'old', 10), (2, 'other', 20); INSERT INTO child VALUES (1)",
      InsertMode::upsert, {0});
  load(target, {{std::int64_t{1}, Text{"new"}, std::int64_t{11}},
                {std::int64_t{3}, Text{"x"}, Null{}},
                {std::int64_t{1}, Text{"newest"}, std::int64_t{12}}});
  EXPECT_EQ(cell(session_, "SELECT group_concat(a || b || coalesce(c, '-')) FROM t"), "1newest12,2other20,3x-");
  // INSERT OR REPLACE would have deleted the row and its children.
  EXPECT_EQ(cell(session_, "SELECT count(*) FROM child"), "1");
  // Another unique index that a row meets is the record's fault, no reason to change another row.
  load(target, {{std::int64_t{9}, Text{"y"}, std::int64_t{20}}});
  ASSERT_EQ(rejects_.size(), 1U);
  EXPECT_EQ(rejects_[0].of, RejectClass::constraint);
}

TEST_F(SqliteLoaderTest, UpsertOfKeysOnlyLeavesPresentRowsAlone) {
  const auto target = plan("CREATE TABLE t (a INT, b INT, PRIMARY KEY (a, b)); INSERT INTO t VALUES (1, 2)",
                           InsertMode::upsert, {0, 1});
  EXPECT_NE(load_statement(target).find("ON CONFLICT (\"a\", \"b\") DO NOTHING"), std::string::npos);
  load(target, {{std::int64_t{1}, std::int64_t{2}}, {std::int64_t{1}, std::int64_t{3}}});
  EXPECT_EQ(cell(session_, "SELECT count(*) FROM t"), "2");
}

TEST_F(SqliteLoaderTest, ARefusedRowIsNamedAndTheSavepointHoldsTheRest) {
  const auto target = plan("CREATE TABLE t (a INTEGER PRIMARY KEY, b TEXT CHECK (b <> 'secret'))");
  session_.begin();
  SqliteLoader loader(session_, target);
  const Batch rows =
      batch({{std::int64_t{1}, Text{"x"}}, {std::int64_t{1}, Text{"y"}}, {std::int64_t{2}, Text{"secret"}}});
  session_.execute("SAVEPOINT rows");
  loader.add(rows, 0, 3, rejects_);
  ASSERT_EQ(rejects_.size(), 2U) << "the second row has the key of the first";
  EXPECT_EQ(rejects_[0].origin, (Origin{0, 101}));
  EXPECT_EQ(rejects_[0].code, "SQLITE_CONSTRAINT_PRIMARYKEY");
  EXPECT_EQ(rejects_[0].of, RejectClass::constraint);
  EXPECT_NE(rejects_[0].reason.find("t.a"), std::string::npos) << rejects_[0].reason;
  EXPECT_EQ(rejects_[1].origin, (Origin{0, 102}));
  EXPECT_EQ(rejects_[1].code, "SQLITE_CONSTRAINT_CHECK");
  session_.execute("ROLLBACK TO SAVEPOINT rows");
  rejects_.clear();
  loader.add(rows, 1, 2, rejects_);
  EXPECT_TRUE(rejects_.empty());
  loader.finish();
  session_.commit();
  EXPECT_EQ(cell(session_, "SELECT group_concat(a || b) FROM t"), "1y");
}

TEST_F(SqliteLoaderTest, WideRowsAndLongText) {
  std::string ddl = "CREATE TABLE t (";
  std::vector<Value> row;
  const std::string megabyte(1'000'000, 'm');
  for (int i = 0; i < 40; ++i) {
    ddl += (i == 0 ? "c" : ", c") + std::to_string(i) + (i % 2 == 0 ? " TEXT" : " BIGINT");
    row.push_back(i % 2 == 0 ? Value{Text{megabyte}} : Value{std::int64_t{i}});
  }
  load(plan(ddl + ")"), {row, row});
  EXPECT_EQ(cell(session_, "SELECT sum(length(c0) + length(c38) + c39) FROM t"), "4000078");
  EXPECT_EQ(cell(session_, "SELECT count(*) FROM t WHERE c38 = c0"), "2");
}

// The texts of several cells of one row are made in buffers, and none may overwrite another before the row is stored.
TEST_F(SqliteLoaderTest, CellsOfARowDoNotShareTheirText) {
  load(plan("CREATE TABLE t (a TEXT, b TEXT, c DATE, d BLOB, e BLOB)"),
       {{std::int64_t{1}, Timestamp{0}, std::int64_t{1}, Text{"AAAA"}, Text{"////"}}});
  EXPECT_EQ(cell(session_, "SELECT a || b || c || hex(d) || hex(e) FROM t"),
            "11970-01-01T00:00:00Z1970-01-02000000FFFFFF");
}

TEST_F(SqliteLoaderTest, RowsOutsideATransactionAreRefused) {
  const auto target = plan("CREATE TABLE t (a INTEGER PRIMARY KEY ON CONFLICT ROLLBACK)");
  const Batch rows = batch({{std::int64_t{1}}, {std::int64_t{1}}});
  SqliteLoader loader(session_, target);
  EXPECT_EQ(error_from([&] { loader.add(rows, 0, 1, rejects_); }).fault(), Fault::fatal);
  session_.begin();
  // SQLite rolls all of it back by itself.
  EXPECT_EQ(error_from([&] { loader.add(rows, 0, 2, rejects_); }).fault(), Fault::fatal);
  EXPECT_EQ(error_from([&] { loader.add(rows, 0, 1, rejects_); }).fault(), Fault::retryable);
  EXPECT_EQ(error_from([&] { loader.finish(); }).fault(), Fault::retryable);
  session_.rollback();
  EXPECT_EQ(cell(session_, "SELECT count(*) FROM t"), "0");
}

TEST_F(SqliteLoaderTest, AMissingTableIsFatal) {
  auto target = plan("CREATE TABLE t (a INT)");
  target.table = "gone";
  EXPECT_EQ(error_from([&] { SqliteLoader(session_, target); }).fault(), Fault::fatal);
}

}  // namespace
}  // namespace sluice::sqlite
