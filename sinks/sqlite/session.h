// One connection to a database file. Only for this folder: it shows SQLite's handle.
#pragma once

#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/error.h"
#include "sinks/sql/session.h"
#include "sinks/sqlite/handles.h"

namespace sluice::sqlite {

// A failing statement undoes itself only, the transaction stays good; but a full disk, a failed write or missing memory
// make SQLite roll all of it back. The session then refuses everything until rollback(), since SQLite would go on
// without a transaction.
class SqliteSession final : public sql::Session {
 public:
  SqliteSession(std::string path, std::chrono::milliseconds busy_timeout);
  // Of a database without tables, in memory: for questions about a file that does not exist.
  SqliteSession();
  ~SqliteSession() override;
  SqliteSession(const SqliteSession&) = delete;
  SqliteSession& operator=(const SqliteSession&) = delete;

  void begin() override;
  void commit() override;
  void rollback() noexcept override;

  using sql::Session::execute;
  using sql::Session::query;
  // Without arguments the text may hold several statements; the rows affected are then those of all of them.
  std::uint64_t execute(const std::string& sql, std::span<const Value> arguments) override;
  std::vector<sql::Row> query(const std::string& sql, std::span<const Value> arguments) override;

  void interrupt() noexcept override { sqlite3_interrupt(handle()); }
  std::string id() const override { return {}; }
  bool end_session(const std::string&) override { return false; }

  // For the loader.
  sqlite3* handle() const { return connection_.get(); }
  Statement prepare(std::string_view sql, const char** rest = nullptr);
  void require_transaction() const;
  // The error that the handle holds.
  Error last_error(std::string_view action) const;

 private:
  void open();
  void configure();
  void refuse_lost_transaction() const;
  void bind(sqlite3_stmt* statement, std::span<const Value> arguments);
  std::uint64_t run(sqlite3_stmt* statement);

  std::string path_;
  std::chrono::milliseconds busy_timeout_;
  Connection connection_;
  bool in_transaction_ = false;  // as begin() and commit() see it
};

}  // namespace sluice::sqlite
