#include "sinks/postgres/session.h"

#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <utility>

#include "core/model/error.h"
#include "sinks/postgres/errors.h"
#include "sinks/sql/letter_text.h"

namespace sluice::postgres {

namespace {

// libpqxx 6 keeps the SQLSTATE of most errors to itself where it has a class of its own for them.
std::string sqlstate_of(const pqxx::sql_error& error) {
  if (!error.sqlstate().empty()) return error.sqlstate();
  if (dynamic_cast<const pqxx::insufficient_privilege*>(&error) != nullptr) return "42501";
  if (dynamic_cast<const pqxx::undefined_table*>(&error) != nullptr) return "42P01";
  if (dynamic_cast<const pqxx::undefined_column*>(&error) != nullptr) return "42703";
  if (dynamic_cast<const pqxx::undefined_function*>(&error) != nullptr) return "42883";
  if (dynamic_cast<const pqxx::syntax_error*>(&error) != nullptr) return "42601";
  if (dynamic_cast<const pqxx::unique_violation*>(&error) != nullptr) return "23505";
  if (dynamic_cast<const pqxx::integrity_constraint_violation*>(&error) != nullptr) return "23000";
  if (dynamic_cast<const pqxx::data_exception*>(&error) != nullptr) return "22000";
  if (dynamic_cast<const pqxx::feature_not_supported*>(&error) != nullptr) return "0A000";
  if (dynamic_cast<const pqxx::disk_full*>(&error) != nullptr) return "53100";
  if (dynamic_cast<const pqxx::insufficient_resources*>(&error) != nullptr) return "53000";
  return {};
}

Error sql_failure(const pqxx::sql_error& error) {
  const std::string code = sqlstate_of(error);
  if (code.empty()) return Error(Fault::retryable, "the connection to PostgreSQL broke: " + shown("", error.what()));
  std::string text = "PostgreSQL says: " + shown(code, error.what()) + " (SQLSTATE " + code + ")";
  if (const auto step = next_step(code); !step.empty()) text += "; " + std::string(step);
  return Error(classify(code), text, code);
}

std::string first_line(const char* text) {
  return shown("", text);
}

// A refused password or database name arrives as a broken connection without a SQLSTATE: only the text tells.
Error connect_failure(const pqxx::failure& error) {
  const std::string text = error.what();
  const auto says = [&](const char* words) { return text.find(words) != std::string::npos; };
  std::string step;
  if (text.starts_with("invalid ")) step = "correct that option of connection.url";
  if (says("FATAL:  database \"") && says("does not exist")) step = "create the database, or correct connection.url";
  if (says("authentication failed") || says("FATAL:  role \"") || says("no pg_hba.conf entry")) {
    step = "mend connection.url or the server's users";
  }
  const bool hopeless = !step.empty();
  if (!hopeless) step = "trying again; does the server run, and are host and port of connection.url right?";
  return Error(hopeless ? Fault::fatal : Fault::retryable,
               "cannot connect to PostgreSQL: " + first_line(error.what()) + "; " + step);
}

}  // namespace

void translated(const std::function<void()>& work) {
  try {
    work();
  } catch (const pqxx::in_doubt_error& error) {
    throw Error(Fault::in_doubt, "the answer to COMMIT was lost; the ledger will tell: " + first_line(error.what()));
  } catch (const pqxx::sql_error& error) {
    throw sql_failure(error);
  } catch (const pqxx::usage_error& error) {
    throw Error(Fault::fatal, std::string("internal: libpqxx was misused: ") + error.what());
  } catch (const pqxx::argument_error& error) {
    throw Error(Fault::fatal, std::string("internal: libpqxx was misused: ") + error.what());
  } catch (const pqxx::internal_error& error) {
    throw Error(Fault::retryable, std::string("libpqxx lost track of the connection: ") + error.what());
  } catch (const pqxx::failure& error) {  // broken_connection among them
    throw Error(Fault::retryable, "the connection to PostgreSQL broke: " + first_line(error.what()));
  }
}

PostgresSession::PostgresSession(const std::string& connection_string, const Timeouts& timeouts) {
  begin_settings_ =
      "SET LOCAL lock_timeout = " + std::to_string(timeouts.lock.count()) +
      "; SET LOCAL statement_timeout = " + std::to_string(timeouts.statement.count()) +
      "; SET LOCAL idle_in_transaction_session_timeout = " + std::to_string(timeouts.idle_in_transaction.count()) +
      // A plan is used once, for some thousand rows: compiling it takes longer than running it.
      "; SET LOCAL jit = off";
  try {
    connection_ = std::make_unique<pqxx::connection>(connection_string);
  } catch (const pqxx::failure& error) {
    throw connect_failure(error);
  }
#if PQXX_VERSION_MAJOR < 7
  // 6.x reconnects silently inside exec() and then goes on outside the transaction that was lost.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
  connection_->inhibit_reactivation(true);
#pragma GCC diagnostic pop
#endif
  socket_ = ::dup(connection_->sock());
  const auto rows = query(
      "SELECT pid || '@' || extract(epoch FROM backend_start) FROM pg_stat_activity WHERE pid = pg_backend_pid()", {});
  if (!rows.empty()) id_ = rows.front().front().value_or("");
}

PostgresSession::~PostgresSession() {
  rollback();
  if (socket_ >= 0) ::close(socket_);
}

void PostgresSession::begin() {
  translated([&] {
    transaction_ = std::make_unique<pqxx::work>(*connection_);
    transaction_->exec(begin_settings_);
  });
}

void PostgresSession::commit() {
  translated([&] { transaction_->commit(); });
  transaction_.reset();
}

void PostgresSession::rollback() noexcept {
  try {
    if (transaction_) transaction_->abort();
  } catch (const std::exception&) {
    // The server rolls back what a broken connection leaves.
  }
  transaction_.reset();
}

// PostgreSQL wants the name only at the end.
void PostgresSession::begin_named(const std::string&) {
  begin();
}

void PostgresSession::prepare_transaction(const std::string& name) {
  try {
    translated([&] { transaction_->exec("PREPARE TRANSACTION " + transaction_->quote(name)); });
  } catch (const Error& error) {
    if (error.fault() != Fault::retryable || !error.code().empty()) throw;
    throw Error(Fault::in_doubt, "the answer to PREPARE TRANSACTION was lost: " + std::string(error.what()));
  }
  // The session has no transaction any more, which libpqxx does not know: its ROLLBACK meets none.
  rollback();
}

bool PostgresSession::finish_prepared(const char* verb, const std::string& name) {
  try {
    execute(verb + (" PREPARED " + connection_->quote(name)), {});
    return true;
  } catch (const Error& error) {
    if (error.code() != "42704") throw;
    return false;
  }
}

bool PostgresSession::commit_prepared(const std::string& name) {
  try {
    return finish_prepared("COMMIT", name);
  } catch (const Error& error) {
    if (error.fault() != Fault::retryable || !error.code().empty()) throw;
    throw Error(Fault::in_doubt, "the answer to COMMIT PREPARED was lost: " + std::string(error.what()));
  }
}

bool PostgresSession::rollback_prepared(const std::string& name) {
  return finish_prepared("ROLLBACK", name);
}

std::vector<sql::PreparedTransaction> PostgresSession::prepared_transactions() {
  std::vector<sql::PreparedTransaction> all;
  for (const auto& row :
       query("SELECT gid, prepared FROM pg_prepared_xacts WHERE database = current_database() ORDER BY gid", {})) {
    all.push_back({row[0].value_or(""), row[1].value_or("")});
  }
  return all;
}

pqxx::work& PostgresSession::transaction() {
  return *transaction_;
}

pqxx::result PostgresSession::run(const std::string& sql, std::span<const Value> arguments) {
  pqxx::result result;
  const auto execute_on = [&](pqxx::transaction_base& on) {
    if (arguments.empty()) {
      result = on.exec(sql);
      return;
    }
    std::vector<std::optional<std::string>> texts;
    for (const Value& argument : arguments) {
      if (const auto* text = std::get_if<Text>(&argument)) {
        texts.emplace_back(std::string(text->utf8));
      } else if (const auto* bytes = std::get_if<Bytes>(&argument)) {
        texts.emplace_back("\\x" + sql::to_hex(bytes->raw));
      } else if (const auto* number = std::get_if<std::int64_t>(&argument)) {
        texts.emplace_back(std::to_string(*number));
      } else {
        texts.emplace_back(std::nullopt);
      }
    }
    result = postgres::execute(on, sql, texts);
  };
  translated([&] {
    if (transaction_) {
      execute_on(*transaction_);
    } else {
      pqxx::nontransaction autocommit(*connection_);
      execute_on(autocommit);
    }
  });
  return result;
}

std::uint64_t PostgresSession::execute(const std::string& sql, std::span<const Value> arguments) {
  return static_cast<std::uint64_t>(run(sql, arguments).affected_rows());
}

std::vector<sql::Row> PostgresSession::query(const std::string& sql, std::span<const Value> arguments) {
  const pqxx::result result = run(sql, arguments);
  std::vector<sql::Row> rows;
  for (const auto& from : result) {
    sql::Row row;
    for (const auto& field : from) {
      row.push_back(field.is_null() ? std::nullopt : std::optional<std::string>(field.c_str()));
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

// libpq waits for its socket, and nothing else wakes it. The server notices the end of the connection by itself.
void PostgresSession::interrupt() noexcept {
  if (socket_ >= 0) ::shutdown(socket_, SHUT_RDWR);
}

int PostgresSession::port() const {
  return std::atoi(connection_->port());
}

bool PostgresSession::end_session(const std::string& id) {
  const auto at = id.find('@');
  if (at == std::string::npos) return false;
  const std::array<Value, 2> arguments{Text{std::string_view(id).substr(0, at)}, Text{id}};
  // A process id is used again in time: the start of the session tells whether it still is the same.
  const auto rows = query(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid = $1::int AND pid <> pg_backend_pid() "
      "AND pid || '@' || extract(epoch FROM backend_start) = $2",
      arguments);
  return !rows.empty();
}

}  // namespace sluice::postgres
