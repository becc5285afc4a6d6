// SQLite as a database of the SQL sink: one file, one writer at a time.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "sinks/sql/database.h"
#include "sinks/sqlite/dialect.h"

namespace sluice::sqlite {

struct SqliteConfig {
  std::string path;                              // of the file, in a directory that exists; the file itself is created
  std::chrono::milliseconds busy_timeout{5000};  // how long a session waits for the write lock
};

// connect() may be called from any thread; the sessions are independent of it and of each other.
class SqliteDatabase final : public sql::Database {
 public:
  explicit SqliteDatabase(SqliteConfig config);

  const sql::Dialect& dialect() const override { return dialect_; }
  std::string name() const override;
  std::span<const sql::Migration> migrations() const override;
  std::unique_ptr<sql::Session> connect() override;
  std::unique_ptr<sql::Session> empty_instead() override;
  std::optional<sql::Table> describe(sql::Session& session, const std::string& table) override;
  std::unique_ptr<sql::RowLoader> loader(sql::Session& session, const sql::LoadPlan& plan) override;
  std::size_t writers_max() const override { return 1; }

 private:
  SqliteConfig config_;
  SqliteDialect dialect_;
};

}  // namespace sluice::sqlite
