#include "sinks/sqlite/errors.h"

#include <gtest/gtest.h>
#include <sqlite3.h>

namespace sluice::sqlite {
namespace {

TEST(SqliteErrors, DataIsTheRecordsFault) {
  for (const int code : {SQLITE_CONSTRAINT, SQLITE_CONSTRAINT_UNIQUE, SQLITE_CONSTRAINT_PRIMARYKEY,
                         SQLITE_CONSTRAINT_NOTNULL, SQLITE_CONSTRAINT_CHECK, SQLITE_CONSTRAINT_FOREIGNKEY,
                         SQLITE_CONSTRAINT_DATATYPE, SQLITE_CONSTRAINT_TRIGGER, SQLITE_MISMATCH, SQLITE_TOOBIG}) {
    EXPECT_EQ(classify(code), Fault::bad_record) << code;
  }
}

TEST(SqliteErrors, LocksAndResourcesAreTriedAgain) {
  for (const int code : {SQLITE_BUSY, SQLITE_BUSY_SNAPSHOT, SQLITE_BUSY_RECOVERY, SQLITE_LOCKED, SQLITE_PROTOCOL,
                         SQLITE_FULL, SQLITE_IOERR, SQLITE_IOERR_WRITE, SQLITE_IOERR_FSYNC, SQLITE_NOMEM,
                         SQLITE_INTERRUPT, SQLITE_SCHEMA, SQLITE_ABORT_ROLLBACK}) {
    EXPECT_EQ(classify(code), Fault::retryable) << code;
  }
}

TEST(SqliteErrors, APersonMustActOnTheRest) {
  for (const int code :
       {SQLITE_ERROR, SQLITE_CANTOPEN, SQLITE_CANTOPEN_ISDIR, SQLITE_READONLY, SQLITE_READONLY_DIRECTORY, SQLITE_NOTADB,
        SQLITE_CORRUPT, SQLITE_AUTH, SQLITE_PERM, SQLITE_MISUSE, SQLITE_RANGE, 200}) {
    EXPECT_EQ(classify(code), Fault::fatal) << code;
  }
}

TEST(SqliteErrors, CodesHaveNames) {
  EXPECT_EQ(code_name(SQLITE_CONSTRAINT_UNIQUE), "SQLITE_CONSTRAINT_UNIQUE");
  EXPECT_EQ(code_name(SQLITE_IOERR_FSYNC), "SQLITE_IOERR");
  EXPECT_EQ(code_name(200), "SQLite result 200");
}

TEST(SqliteErrors, AMessageSaysWhatWhereWhyAndWhatNext) {
  const Error error = error_of(SQLITE_BUSY, "a statement", "/data/shop.db", "database is locked");
  EXPECT_EQ(error.fault(), Fault::retryable);
  EXPECT_EQ(error.code(), "SQLITE_BUSY");
  const std::string what = error.what();
  EXPECT_NE(what.find("a statement in sqlite /data/shop.db failed: database is locked"), std::string::npos) << what;
  EXPECT_NE(what.find("locked by another process"), std::string::npos) << what;
}

}  // namespace
}  // namespace sluice::sqlite
