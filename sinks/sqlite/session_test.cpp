#include "sinks/sqlite/session.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>

#include "sinks/sqlite/temporary_database.h"

namespace sluice::sqlite {
namespace {

using SqliteSessionTest = TemporaryDatabase;

TEST_F(SqliteSessionTest, SetsTheFileUpForDurability) {
  auto session = this->session();
  EXPECT_EQ(cell(session, "PRAGMA journal_mode"), "wal");
  EXPECT_EQ(cell(session, "PRAGMA synchronous"), "2");
  EXPECT_EQ(cell(session, "PRAGMA foreign_keys"), "1");
  EXPECT_EQ(session.id(), "");
  EXPECT_FALSE(session.end_session("1"));
}

TEST_F(SqliteSessionTest, ExecutesSeveralStatementsAndCountsRows) {
  auto session = this->session();
  EXPECT_EQ(session.execute("-- a comment\nCREATE TABLE t (a INTEGER, b TEXT);\nCREATE INDEX i ON t (a); -- the end\n"),
            0U);
  EXPECT_EQ(session.execute("INSERT INTO t VALUES (1, 'x'), (2, 'y'); INSERT INTO t VALUES (3, 'z;')"), 3U);
  EXPECT_EQ(session.execute("UPDATE t SET b = b"), 3U);
  EXPECT_EQ(session.execute("UPDATE t SET b = 'w' WHERE a > 7"), 0U);
  EXPECT_EQ(session.execute("CREATE TABLE u (a)"), 0U);  // not the three of the statements before
  EXPECT_EQ(session.execute("DELETE FROM t WHERE a = 3"), 1U);
  EXPECT_EQ(session.execute("SELECT * FROM t"), 0U);
}

TEST_F(SqliteSessionTest, ArgumentsAreValuesNotText) {
  auto session = this->session();
  session.execute("CREATE TABLE t (a INTEGER, b TEXT, c TEXT, d TEXT)");
  const std::string quoted = "it's; \"ü\"";
  const std::array<Value, 4> row{std::numeric_limits<std::int64_t>::min(), Text{quoted}, Null{}, Text{}};
  EXPECT_EQ(session.execute("INSERT INTO t VALUES (?1, ?2, ?3, ?4)", row), 1U);
  const auto rows =
      session.query("SELECT a, b, c, d, typeof(d), b FROM t WHERE b = ?1", std::array<Value, 1>{Text{quoted}});
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0], (sql::Row{"-9223372036854775808", quoted, std::nullopt, "", "text", quoted}));
  EXPECT_EQ(error_from([&] { session.query("SELECT ?1", std::array<Value, 1>{true}); }).fault(), Fault::fatal);
}

TEST_F(SqliteSessionTest, OnlyACommitIsVisibleToOthers) {
  auto session = this->session();
  auto reader = this->session();
  session.execute("CREATE TABLE t (a)");
  session.begin();
  session.execute("INSERT INTO t VALUES (1)");
  EXPECT_EQ(cell(reader, "SELECT count(*) FROM t"), "0");
  session.commit();
  EXPECT_EQ(cell(reader, "SELECT count(*) FROM t"), "1");
  session.begin();
  session.execute("DELETE FROM t");
  session.rollback();
  session.rollback();  // nothing is open: does nothing
  EXPECT_EQ(cell(session, "SELECT count(*) FROM t"), "1");
}

TEST_F(SqliteSessionTest, ASessionThatEndsRollsBack) {
  auto reader = this->session();
  reader.execute("CREATE TABLE t (a)");
  {
    auto session = this->session();
    session.begin();
    session.execute("INSERT INTO t VALUES (1)");
  }
  EXPECT_EQ(cell(reader, "SELECT count(*) FROM t"), "0");
  reader.begin();  // and gives the lock back
}

TEST_F(SqliteSessionTest, TheWriteLockIsTakenAtOnceAndWaitingEnds) {
  auto first = this->session();
  auto second = this->session();
  first.begin();
  const Error error = error_from([&] { second.begin(); });
  EXPECT_EQ(error.fault(), Fault::retryable);
  EXPECT_EQ(error.code(), "SQLITE_BUSY");
  EXPECT_NE(std::string(error.what()).find("locked by another process"), std::string::npos) << error.what();
  EXPECT_EQ(error_from([&] { second.execute("CREATE TABLE t (a)"); }).fault(), Fault::retryable);
  first.commit();
  second.begin();
  second.commit();
}

TEST_F(SqliteSessionTest, AConstraintIsTheRecordsFaultAndLeavesTheTransactionGood) {
  auto session = this->session();
  session.execute("CREATE TABLE t (a INTEGER PRIMARY KEY, b TEXT UNIQUE)");
  session.begin();
  session.execute("INSERT INTO t VALUES (1, 'secret-4711')");
  const Error error = error_from([&] { session.execute("INSERT INTO t VALUES (2, 'other'), (3, 'secret-4711')"); });
  EXPECT_EQ(error.fault(), Fault::bad_record);
  EXPECT_EQ(error.code(), "SQLITE_CONSTRAINT_UNIQUE");
  EXPECT_NE(std::string(error.what()).find("t.b"), std::string::npos) << error.what();
  EXPECT_EQ(std::string(error.what()).find("4711"), std::string::npos) << error.what();
  session.execute("INSERT INTO t VALUES (4, 'more')");
  session.commit();
  EXPECT_EQ(cell(session, "SELECT group_concat(a) FROM t"), "1,4");
}

TEST_F(SqliteSessionTest, ACommitThatFailsLeavesNothing) {
  auto session = this->session();
  session.execute(
      "CREATE TABLE p (a INTEGER PRIMARY KEY); CREATE TABLE c (a INTEGER REFERENCES p (a) DEFERRABLE INITIALLY "
      "DEFERRED)");
  session.begin();
  session.execute("INSERT INTO c VALUES (1)");
  EXPECT_EQ(error_from([&] { session.commit(); }).fault(), Fault::bad_record);
  EXPECT_EQ(cell(session, "SELECT count(*) FROM c"), "0");
  session.begin();
  session.commit();
}

// SQLite ends the transaction by itself in some errors; what came next would be committed statement by statement.
TEST_F(SqliteSessionTest, ATransactionThatSqliteRolledBackIsNotGoneOnWith) {
  auto session = this->session();
  session.execute("CREATE TABLE t (a INTEGER PRIMARY KEY ON CONFLICT ROLLBACK)");
  session.begin();
  session.execute("INSERT INTO t VALUES (1)");
  EXPECT_EQ(error_from([&] { session.execute("INSERT INTO t VALUES (1)"); }).fault(), Fault::bad_record);
  EXPECT_EQ(error_from([&] { session.execute("INSERT INTO t VALUES (2)"); }).fault(), Fault::retryable);
  EXPECT_EQ(error_from([&] { session.query("SELECT 1"); }).fault(), Fault::retryable);
  EXPECT_EQ(error_from([&] { session.commit(); }).fault(), Fault::retryable);
  session.rollback();
  EXPECT_EQ(cell(session, "SELECT count(*) FROM t"), "0");
}

TEST_F(SqliteSessionTest, AFullDatabaseIsTriedAgain) {
  auto session = this->session();
  session.execute("CREATE TABLE t (a TEXT); PRAGMA max_page_count=8");
  session.begin();
  const Error error = error_from([&] { session.execute("INSERT INTO t VALUES (hex(zeroblob(1000000)))"); });
  EXPECT_EQ(error.fault(), Fault::retryable);
  EXPECT_EQ(error.code(), "SQLITE_FULL");
}

TEST_F(SqliteSessionTest, AMissingTableOrColumnIsFatal) {
  auto session = this->session();
  session.execute("CREATE TABLE t (a)");
  const Error error = error_from([&] { session.query("SELECT * FROM nowhere"); });
  EXPECT_EQ(error.fault(), Fault::fatal);
  EXPECT_NE(std::string(error.what()).find("no such table: nowhere"), std::string::npos) << error.what();
  EXPECT_EQ(error_from([&] { session.execute("UPDATE t SET b = 1"); }).fault(), Fault::fatal);
}

TEST_F(SqliteSessionTest, AReadOnlyDatabaseIsFatal) {
  auto session = this->session();
  session.execute("CREATE TABLE t (a); PRAGMA query_only=ON");
  const Error error = error_from([&] { session.execute("INSERT INTO t VALUES (1)"); });
  EXPECT_EQ(error.fault(), Fault::fatal);
  EXPECT_EQ(error.code(), "SQLITE_READONLY");
}

// Root may write to any file, so a test that runs as root takes another user's rights for a while.
class OrdinaryUser {
 public:
  OrdinaryUser() : user_(geteuid()) {
    if (user_ == 0) {
      EXPECT_EQ(seteuid(65534), 0);
    }
  }
  ~OrdinaryUser() { EXPECT_EQ(seteuid(user_), 0); }
  OrdinaryUser(const OrdinaryUser&) = delete;
  OrdinaryUser& operator=(const OrdinaryUser&) = delete;

 private:
  uid_t user_;
};

TEST_F(SqliteSessionTest, AFileThatMayOnlyBeReadIsFatal) {
  { auto created = this->session(); }
  using std::filesystem::perms;
  std::filesystem::permissions(path(), perms{0444});
  std::filesystem::permissions(directory(), perms{0755});
  const OrdinaryUser user;
  const Error error = error_from([&] { this->session(); });
  EXPECT_EQ(error.fault(), Fault::fatal);
  EXPECT_EQ(error.code(), "SQLITE_READONLY");
  EXPECT_NE(std::string(error.what()).find("write access to the file and its directory"), std::string::npos)
      << error.what();
}

TEST_F(SqliteSessionTest, OpeningSaysWhatIsWrongWithThePath) {
  const auto open = [](const std::string& file) {
    return error_from([&] { SqliteSession(file, std::chrono::milliseconds(1)); });
  };
  const Error missing = open((directory() / "no" / "test.db").string());
  EXPECT_EQ(missing.fault(), Fault::fatal);
  EXPECT_NE(std::string(missing.what()).find("directory " + (directory() / "no").string() + " does not exist"),
            std::string::npos)
      << missing.what();
  EXPECT_EQ(open(directory().string()).code(), "SQLITE_CANTOPEN");
  EXPECT_EQ(open(":memory:").fault(), Fault::fatal);
  std::ofstream(path()) << std::string(4096, 'x');
  const Error garbage = open(path());
  EXPECT_EQ(garbage.fault(), Fault::fatal);
  EXPECT_EQ(garbage.code(), "SQLITE_NOTADB");
}

TEST_F(SqliteSessionTest, TheDatabaseOffersTheMigrationsAndOneWriter) {
  SqliteDatabase database({path(), std::chrono::milliseconds(20)});
  EXPECT_EQ(database.writers_max(), 1U);
  EXPECT_EQ(database.name(), "sqlite " + path());
  const auto session = database.connect();
  ASSERT_FALSE(database.migrations().empty());
  session->begin();
  for (const auto& migration : database.migrations()) session->execute(std::string(migration.sql));
  session->commit();
  EXPECT_EQ(cell(*session,
                 "SELECT " + database.dialect().now() + " GLOB '2[0-9][0-9][0-9]-[0-1][0-9]-[0-3][0-9]T*:*:*.???Z'"),
            "1");
  EXPECT_TRUE(database.describe(*session, "sluice_ledger").has_value());
}

}  // namespace
}  // namespace sluice::sqlite
