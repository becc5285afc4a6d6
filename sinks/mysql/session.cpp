#include "sinks/mysql/session.h"

#include <cppconn/driver.h>
#include <cppconn/exception.h>
#include <cppconn/resultset.h>
#include <cppconn/resultset_metadata.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string_view>
#include <utility>

#include "core/model/error.h"
#include "sinks/mysql/errors.h"
#include "sinks/mysql/literal.h"

namespace sluice::mysql {

namespace {

// How long a session may be silent between transactions.
constexpr std::chrono::seconds silence_between{std::chrono::hours{24}};

constexpr std::string_view xaer_nota = "1397 ";   // no such branch
constexpr std::string_view xaer_rmerr = "1401 ";  // the server will not

std::string code_of(int number, const std::string& sqlstate) {
  return std::to_string(number) + " " + sqlstate;
}

Error failure(int number, const std::string& sqlstate, std::string_view message) {
  if (is_connection_loss(number)) {
    return Error(Fault::retryable,
                 "the connection to the server broke: " + std::string(message) + " (" + std::to_string(number) + ")",
                 code_of(number, sqlstate));
  }
  std::string text = "the server says: " + shown(number, sqlstate, message) + " (" + std::to_string(number) + ")";
  if (const auto step = next_step(number); !step.empty()) text += "; " + std::string(step);
  return Error(classify(number, sqlstate), text, code_of(number, sqlstate));
}

template <class Work>
auto translated(Work work) {
  try {
    return work();
  } catch (const ::sql::SQLException& error) {
    throw failure(error.getErrorCode(), error.getSQLState(), error.what());
  }
}

// Runs a statement that decides something: what a broken connection leaves of it is not known.
template <class Work>
void in_doubt_when_lost(const std::string& what, Work work) {
  try {
    work();
  } catch (const Error& error) {
    if (!is_connection_loss(std::atoi(error.code().c_str()))) throw;
    throw Error(Fault::in_doubt, "the answer to " + what + " was lost; the ledger will tell: " + error.what());
  }
}

Error connect_failure(const ::sql::SQLException& error) {
  const Error plain = failure(error.getErrorCode(), error.getSQLState(), error.what());
  return Error(plain.fault() == Fault::bad_record ? Fault::fatal : plain.fault(),
               "cannot connect: " + std::string(plain.what()), plain.code());
}

std::string random_name() {
  std::random_device device;
  std::array<char, 24> hex{};
  std::snprintf(hex.data(), hex.size(), "sluice-%08x%08x", device(), device());
  return hex.data();
}

// A statement with its arguments in their places. Only statements of ours have any: no ? stands in a text of theirs.
std::string filled(const std::string& sql, std::span<const Value> arguments) {
  if (arguments.empty()) return sql;
  std::string text;
  std::size_t start = 0;
  for (const Value& argument : arguments) {
    const auto place = sql.find('?', start);
    text.append(sql, start, place - start);
    append_literal(argument, text);
    start = place + 1;
  }
  return text.append(sql, start, std::string::npos);
}

// A name's last part is what tells branches of one sink apart: gtrid and bqual hold 64 bytes each.
std::string xa_name(const std::string& name) {
  std::size_t cut = name.find('/', name.find('/') + 1);
  if (cut == std::string::npos) cut = name.size() - 1;
  return "'" + name.substr(0, cut) + "','" + name.substr(cut + 1) + "'";
}

std::string option_of(const Address& address, const std::string& name) {
  const auto found = address.options.find(name);
  return found == address.options.end() ? std::string() : found->second;
}

bool allows_local_infile(const Address& address) {
  return option_of(address, "local-infile") != "0";
}

::sql::ConnectOptionsMap connect_options(const Address& address, const Timeouts& timeouts) {
  const auto option = [&](const std::string& name) { return option_of(address, name); };
  ::sql::ConnectOptionsMap options;
  const std::string socket = option("socket");
  options["hostName"] = ::sql::SQLString(socket.empty() ? "tcp://" + address.host : "unix://" + socket);
  options["port"] = address.port;
  options["userName"] = ::sql::SQLString(address.user);
  options["password"] = ::sql::SQLString(address.password);
  options["schema"] = ::sql::SQLString(address.database);
  options["OPT_CONNECT_TIMEOUT"] = 10;
  options["OPT_READ_TIMEOUT"] = static_cast<int>(timeouts.answer.count());
  options["OPT_WRITE_TIMEOUT"] = static_cast<int>(timeouts.answer.count());
  options["OPT_CHARSET_NAME"] = ::sql::SQLString("utf8mb4");
  options["OPT_LOCAL_INFILE"] = allows_local_infile(address) ? 1 : 0;
  // An UPDATE answers how many rows it found, changed or not: that is what a compare-and-set asks.
  options["CLIENT_FOUND_ROWS"] = true;
  for (const auto& [name, key] : {std::pair{"ssl-ca", "sslCA"}, {"ssl-cert", "sslCert"}, {"ssl-key", "sslKey"}}) {
    if (const std::string value = option(name); !value.empty()) options[key] = ::sql::SQLString(value);
  }
  const std::string mode = option("ssl-mode");
  if (mode == "required" || mode == "verify-identity") options["sslEnforce"] = true;
  if (mode == "verify-identity") options["sslVerify"] = true;
  return options;
}

}  // namespace

MysqlSession::MysqlSession(const Address& address, const Timeouts& timeouts) : timeouts_(timeouts) {
  static ::sql::Driver* const driver = get_driver_instance();  // one for the process; it is never deleted
  try {
    auto options = connect_options(address, timeouts);
    connection_.reset(driver->connect(options));
    statement_.reset(connection_->createStatement());
  } catch (const ::sql::SQLException& error) {
    throw connect_failure(error);
  }
  set_up();
  server_.local_infile = server_.local_infile && allows_local_infile(address);
}

MysqlSession::~MysqlSession() {
  rollback();
}

// Notes (a decimal that was rounded to its column's scale) are no warnings: those mean that a row is not what was sent.
void MysqlSession::set_up() {
  const auto rows = query("SELECT version(), @@local_infile, @@max_allowed_packet", {});
  const std::string version = rows.at(0).at(0).value_or("");
  int major = 0;
  int minor = 0;
  int patch = 0;
  std::sscanf(version.c_str(), "%d.%d.%d", &major, &minor, &patch);
  server_.flavour = version.find("MariaDB") != std::string::npos ? Flavour::mariadb : Flavour::mysql;
  server_.version = major * 10'000 + minor * 100 + patch;
  server_.local_infile = rows[0][1] == "1";
  server_.packet_max = std::stoull(rows[0][2].value_or("1048576"));

  const auto seconds = [](std::chrono::seconds time) { return std::to_string(time.count()); };
  std::string settings =
      "SET SESSION sql_mode = 'STRICT_ALL_TABLES,NO_ZERO_DATE,NO_ZERO_IN_DATE,ERROR_FOR_DIVISION_BY_ZERO,"
      "NO_ENGINE_SUBSTITUTION,NO_AUTO_VALUE_ON_ZERO', time_zone = '+00:00', sql_notes = 0, "
      "autocommit = 1, innodb_lock_wait_timeout = " +
      seconds(timeouts_.lock) + ", lock_wait_timeout = " + seconds(timeouts_.lock) +
      ", net_read_timeout = " + seconds(timeouts_.idle_in_transaction) +
      ", net_write_timeout = " + seconds(timeouts_.idle_in_transaction) +
      ", wait_timeout = " + seconds(silence_between);
  if (server_.flavour == Flavour::mariadb) {
    settings += ", idle_transaction_timeout = " + seconds(timeouts_.idle_in_transaction);
  } else {
    settings += ", information_schema_stats_expiry = 0";  // tables' times as they are now
  }
  run(settings);
  run("SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED");
  // A lock that nobody else asks for: whoever wants to end this session finds it by that, and never another one that
  // has been given the same number since.
  lock_name_ = random_name();
  query("SELECT get_lock('" + lock_name_ + "', 0)", {});
}

// MariaDB has a limit for transactions alone; MySQL knows only that of the session.
void MysqlSession::expect_silence(std::chrono::seconds limit) {
  if (server_.flavour == Flavour::mysql) run("SET SESSION wait_timeout = " + std::to_string(limit.count()));
}

void MysqlSession::begin() {
  expect_silence(timeouts_.idle_in_transaction);
  run("START TRANSACTION");
  open_ = true;
}

void MysqlSession::commit() {
  in_doubt_when_lost("COMMIT", [&] { run("COMMIT"); });
  open_ = false;
  expect_silence(silence_between);
}

void MysqlSession::begin_named(const std::string& name) {
  expect_silence(timeouts_.idle_in_transaction);
  branch_ = xa_name(name);
  run("XA START " + branch_);
  open_ = true;
}

void MysqlSession::prepare_transaction(const std::string& name) {
  run("XA END " + branch_);
  in_doubt_when_lost("XA PREPARE", [&] { run("XA PREPARE " + xa_name(name)); });
  open_ = false;
  branch_.clear();
  expect_silence(silence_between);
}

// MariaDB says the same of a branch that the session which prepared it still holds: that it is not there proves
// nothing.
bool MysqlSession::finish_prepared(const std::string& verb, const std::string& name) {
  try {
    in_doubt_when_lost(verb, [&] { run(verb + " " + xa_name(name)); });
    return true;
  } catch (const Error& error) {
    if (!error.code().starts_with(xaer_nota)) throw;
    return false;
  }
}

bool MysqlSession::commit_prepared(const std::string& name) {
  return finish_prepared("XA COMMIT", name);
}

bool MysqlSession::rollback_prepared(const std::string& name) {
  return finish_prepared("XA ROLLBACK", name);
}

std::vector<sql::PreparedTransaction> MysqlSession::prepared_transactions() {
  std::vector<sql::PreparedTransaction> all;
  const auto listed = [&] {
    try {
      return query("XA RECOVER", {});
    } catch (const Error& error) {
      if (!error.code().starts_with(xaer_rmerr)) throw;  // MySQL's way of saying that it may not
      throw Error(Fault::fatal, "this user may not list prepared transactions: GRANT XA_RECOVER_ADMIN ON *.* to it",
                  error.code());
    }
  }();
  for (const auto& row : listed) {  // formatID, length of gtrid, of bqual, both behind each other
    const std::string data = row.at(3).value_or("");
    const auto length = std::min<std::size_t>(std::stoull(row[1].value_or("0")), data.size());
    all.push_back({data.substr(0, length) + "/" + data.substr(length), {}});
  }
  return all;
}

void MysqlSession::rollback() noexcept {
  if (!open_) return;
  open_ = false;
  try {
    if (branch_.empty()) {
      statement_->execute("ROLLBACK");
    } else {
      const std::string branch = std::exchange(branch_, {});
      try {
        statement_->execute("XA END " + branch);
      } catch (const ::sql::SQLException&) {
        // It has ended already, or the server has made it good for rollback only.
      }
      statement_->execute("XA ROLLBACK " + branch);
    }
    expect_silence(silence_between);
  } catch (const std::exception&) {
    // The server rolls back what a broken connection leaves.
  }
}

std::uint64_t MysqlSession::run(const std::string& sql) {
  return translated([&]() -> std::uint64_t {
    if (!statement_->execute(sql)) return statement_->getUpdateCount();
    const std::unique_ptr<::sql::ResultSet> unread(statement_->getResultSet());
    return 0;
  });
}

std::uint64_t MysqlSession::execute(const std::string& sql, std::span<const Value> arguments) {
  return run(filled(sql, arguments));
}

std::vector<sql::Row> MysqlSession::query(const std::string& sql, std::span<const Value> arguments) {
  return translated([&] {
    const std::unique_ptr<::sql::ResultSet> result(statement_->executeQuery(filled(sql, arguments)));
    const unsigned columns = result->getMetaData()->getColumnCount();
    std::vector<sql::Row> rows;
    while (result->next()) {
      sql::Row& row = rows.emplace_back();
      for (unsigned column = 1; column <= columns; ++column) {
        std::string cell(result->getString(column).asStdString());
        row.push_back(result->wasNull() ? std::nullopt : std::optional(std::move(cell)));
      }
    }
    return rows;
  });
}

std::optional<MysqlSession::Warning> MysqlSession::first_warning() {
  // The count is there also where the server keeps no warnings (max_error_count = 0).
  if (query("SHOW COUNT(*) WARNINGS", {}).at(0).at(0) == "0") return std::nullopt;
  const auto rows = query("SHOW WARNINGS LIMIT 1", {});
  if (rows.empty()) {
    return Warning{Error(Fault::bad_record, "the server warned of a row, and keeps no warnings: raise max_error_count"),
                   {}};
  }
  const int number = std::stoi(rows[0].at(1).value_or("0"));
  const std::string message = rows[0].at(2).value_or("");
  std::optional<std::size_t> row;
  constexpr std::string_view before_row = " at row ";
  if (const auto at = message.rfind(before_row); at != std::string::npos) {
    std::size_t counted = 0;
    const char* const digits = message.data() + at + before_row.size();
    if (std::from_chars(digits, message.data() + message.size(), counted).ec == std::errc() && counted > 0) {
      row = counted - 1;
    }
  }
  const Error error = failure(number, "HY000", message);
  // Whatever it says: the row is not in the table as it was sent.
  const Fault fault = error.fault() == Fault::retryable ? Fault::retryable : Fault::bad_record;
  return Warning{Error(fault, error.what(), error.code()), row};
}

// The client library waits for its socket with a limit of its own, Timeouts::answer, and lets nobody else near it.
void MysqlSession::interrupt() noexcept {}

bool MysqlSession::end_session(const std::string& id) {
  if (id.empty() || id == lock_name_) return false;
  const std::array<Value, 1> name{Text{id}};
  const auto holder = query("SELECT is_used_lock(?)", name).at(0).at(0);
  if (!holder) return false;
  try {
    run("KILL CONNECTION " + *holder);
  } catch (const Error& error) {
    if (!error.code().starts_with("1094 ")) throw;  // it went by itself meanwhile
  }
  return true;
}

}  // namespace sluice::mysql
