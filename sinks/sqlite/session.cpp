#include "sinks/sqlite/session.h"

#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "sinks/sqlite/errors.h"

namespace sluice::sqlite {
namespace {

void require_directory(const std::string& path) {
  // A database in memory would lose the ledger with the session, and each session would see another one.
  if (path.empty() || path == ":memory:") {
    throw Error(Fault::fatal,
                "the sqlite sink needs the path of a file: what is kept in memory is lost with the process");
  }
  const std::filesystem::path directory = std::filesystem::path(path).parent_path();
  std::error_code ignored;
  if (directory.empty() || std::filesystem::is_directory(directory, ignored)) return;
  throw Error(Fault::fatal,
              "cannot open sqlite " + path + ": the directory " + directory.string() +
                  " does not exist; create it or correct connection.url",
              "SQLITE_CANTOPEN");
}

}  // namespace

SqliteSession::SqliteSession(std::string path, std::chrono::milliseconds busy_timeout)
    : path_(std::move(path)), busy_timeout_(busy_timeout) {
  require_directory(path_);
  open();
  configure();
}

SqliteSession::SqliteSession() : path_(":memory:"), busy_timeout_(0) {
  open();
}

SqliteSession::~SqliteSession() {
  rollback();
}

void SqliteSession::open() {
  sqlite3* opened = nullptr;
  // One thread at a time uses a session, so SQLite need not lock for it.
  const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
  const int code = sqlite3_open_v2(path_.c_str(), &opened, flags, nullptr);
  connection_.reset(opened);
  if (code != SQLITE_OK) {
    throw error_of(code, "opening the database", path_,
                   opened != nullptr ? sqlite3_errmsg(opened) : sqlite3_errstr(code));
  }
  // SQLite opens a file without write access all the same and fails at the first write.
  if (sqlite3_db_readonly(opened, "main") == 1) {
    throw error_of(SQLITE_READONLY, "opening the database", path_, "the file may only be read");
  }
  sqlite3_busy_timeout(opened, static_cast<int>(busy_timeout_.count()));
}

void SqliteSession::configure() {
  // Asking first spares a lock that is needed only once in the life of a file.
  if (query("PRAGMA journal_mode").at(0).at(0) != "wal" && query("PRAGMA journal_mode=WAL").at(0).at(0) != "wal") {
    throw Error(
        Fault::fatal,
        "sqlite " + path_ + " cannot use a write-ahead log; put the file on a local file system with shared memory");
  }
  execute("PRAGMA synchronous=FULL; PRAGMA foreign_keys=ON");
}

Error SqliteSession::last_error(std::string_view action) const {
  return error_of(sqlite3_extended_errcode(handle()), action, path_, sqlite3_errmsg(handle()));
}

void SqliteSession::refuse_lost_transaction() const {
  if (!in_transaction_ || sqlite3_get_autocommit(handle()) == 0) return;
  throw Error(Fault::retryable, "the transaction in sqlite " + path_ +
                                    " is gone: SQLite rolled it back after an earlier error; the epoch is replayed");
}

void SqliteSession::require_transaction() const {
  refuse_lost_transaction();
  if (!in_transaction_)
    throw Error(Fault::fatal, "rows for sqlite " + path_ + " came outside a transaction; this is a bug");
}

Statement SqliteSession::prepare(std::string_view sql, const char** rest) {
  sqlite3_stmt* prepared = nullptr;
  const int code = sqlite3_prepare_v2(handle(), sql.data(), static_cast<int>(sql.size()), &prepared, rest);
  if (code != SQLITE_OK) throw last_error("preparing a statement");
  return Statement(prepared);
}

void SqliteSession::bind(sqlite3_stmt* statement, std::span<const Value> arguments) {
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const int place = static_cast<int>(i) + 1;
    int code = SQLITE_OK;
    if (const auto* integer = std::get_if<std::int64_t>(&arguments[i])) {
      code = sqlite3_bind_int64(statement, place, *integer);
    } else if (const auto* text = std::get_if<Text>(&arguments[i])) {
      // A null pointer would bind NULL. The arguments outlive the statement's run, so nothing is copied.
      const char* const data = text->utf8.data() != nullptr ? text->utf8.data() : "";
      code = sqlite3_bind_text64(statement, place, data, text->utf8.size(), SQLITE_STATIC, SQLITE_UTF8);
    } else if (const auto* bytes = std::get_if<Bytes>(&arguments[i])) {
      const char* const data = bytes->raw.data() != nullptr ? bytes->raw.data() : "";
      code = sqlite3_bind_blob64(statement, place, data, bytes->raw.size(), SQLITE_STATIC);
    } else if (std::holds_alternative<Null>(arguments[i])) {
      code = sqlite3_bind_null(statement, place);
    } else {
      throw Error(Fault::fatal,
                  "an argument of a statement is neither text, bytes, an integer nor NULL; this is a bug");
    }
    if (code != SQLITE_OK) throw last_error("binding an argument");
  }
}

std::uint64_t SqliteSession::run(sqlite3_stmt* statement) {
  const auto total = sqlite3_total_changes64(handle());
  int code = SQLITE_ROW;
  while (code == SQLITE_ROW) code = sqlite3_step(statement);
  if (code != SQLITE_DONE) throw last_error("a statement");
  // sqlite3_changes64 alone would repeat the number of an earlier statement after one that changes no rows by nature.
  return sqlite3_total_changes64(handle()) == total ? 0 : static_cast<std::uint64_t>(sqlite3_changes64(handle()));
}

std::uint64_t SqliteSession::execute(const std::string& sql, std::span<const Value> arguments) {
  refuse_lost_transaction();
  std::uint64_t affected = 0;
  std::string_view rest = sql;
  while (!rest.empty()) {
    const char* next = nullptr;
    const Statement statement = prepare(rest, &next);
    rest.remove_prefix(static_cast<std::size_t>(next - rest.data()));
    if (!statement) continue;  // blanks or a comment
    bind(statement.get(), arguments);
    affected += run(statement.get());
  }
  return affected;
}

std::vector<sql::Row> SqliteSession::query(const std::string& sql, std::span<const Value> arguments) {
  refuse_lost_transaction();
  const Statement statement = prepare(sql);
  bind(statement.get(), arguments);
  std::vector<sql::Row> rows;
  int code = sqlite3_step(statement.get());
  for (; code == SQLITE_ROW; code = sqlite3_step(statement.get())) {
    sql::Row& row = rows.emplace_back();
    for (int i = 0; i < sqlite3_column_count(statement.get()); ++i) {
      const int type = sqlite3_column_type(statement.get(), i);  // before the text: a conversion makes it meaningless
      if (type == SQLITE_NULL) {
        row.emplace_back();
        continue;
      }
      const void* const data =
          type == SQLITE_BLOB ? sqlite3_column_blob(statement.get(), i) : sqlite3_column_text(statement.get(), i);
      const auto size = static_cast<std::size_t>(sqlite3_column_bytes(statement.get(), i));
      row.emplace_back(data == nullptr ? std::string() : std::string(static_cast<const char*>(data), size));
    }
  }
  if (code != SQLITE_DONE) throw last_error("a query");
  return rows;
}

void SqliteSession::begin() {
  execute("BEGIN IMMEDIATE");
  in_transaction_ = true;
}

void SqliteSession::commit() {
  refuse_lost_transaction();
  try {
    execute("COMMIT");
    in_transaction_ = false;
  } catch (const Error& error) {
    rollback();
    // The log may hold the whole transaction although the last write was not confirmed: whoever opens the file after a
    // crash can then find it committed.
    if (error.code() == "SQLITE_IOERR") throw Error(Fault::in_doubt, error.what(), error.code());
    throw;
  }
}

void SqliteSession::rollback() noexcept {
  in_transaction_ = false;
  if (sqlite3_get_autocommit(handle()) == 0) sqlite3_exec(handle(), "ROLLBACK", nullptr, nullptr, nullptr);
}

}  // namespace sluice::sqlite
