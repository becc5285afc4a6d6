// A database file that lives as long as a test. For tests only.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <chrono>
#include <filesystem>
#include <string>

#include "core/model/error.h"
#include "sinks/sqlite/session.h"
#include "sinks/sqlite/sqlite_database.h"

namespace sluice::sqlite {

class TemporaryDatabase : public testing::Test {
 protected:
  TemporaryDatabase() {
    std::string pattern = (std::filesystem::temp_directory_path() / "sluice-sqlite-XXXXXX").string();
    directory_ = mkdtemp(pattern.data()) != nullptr ? pattern : throw std::runtime_error("mkdtemp failed");
  }
  ~TemporaryDatabase() override { std::filesystem::remove_all(directory_); }

  std::string path() const { return (directory_ / "test.db").string(); }
  std::filesystem::path directory() const { return directory_; }

  SqliteSession session() const { return SqliteSession(path(), std::chrono::milliseconds(20)); }

  // The one cell of a one-row answer; NULL reads "NULL".
  static std::string cell(sql::Session& session, const std::string& sql) {
    return session.query(sql).at(0).at(0).value_or("NULL");
  }

 private:
  std::filesystem::path directory_;
};

// The error that `action` throws; fails the test when there is none.
template <typename Action>
Error error_from(Action&& action) {
  try {
    action();
  } catch (const Error& error) {
    return error;
  }
  ADD_FAILURE() << "no error was thrown";
  return Error(Fault::fatal, "none");
}

}  // namespace sluice::sqlite
