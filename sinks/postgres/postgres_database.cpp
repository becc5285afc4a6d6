#include "sinks/postgres/postgres_database.h"

#include <libpq-fe.h>

#include <limits>
#include <string_view>
#include <utility>

#include "core/model/error.h"
#include "sinks/postgres/describe.h"
#include "sinks/postgres/inspect.h"
#include "sinks/postgres/loader.h"
#include "sinks/postgres/session.h"
#include "sinks/postgres/upsert_loader.h"

namespace sluice::postgres {

std::span<const sql::Migration> postgres_migrations();

namespace {

bool is_hex(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

// libpq would take part of such a password for a host or a port, fail, and show it.
bool has_raw_characters(const std::string& url) {
  const auto scheme = url.find("://");
  const auto at = url.rfind('@');
  if (scheme == std::string::npos || at == std::string::npos || at < scheme) return false;
  const std::string user = url.substr(scheme + 3, at - scheme - 3);
  const auto slash = user.find('/');
  const auto question = user.find('?');
  // host/database?option=a@b: this @ ends no user.
  if (slash != std::string::npos && question != std::string::npos && slash < question) return false;
  if (user.find_first_of("@/?#") != std::string::npos) return true;
  for (std::size_t i = 0; i < user.size(); ++i) {
    if (user[i] == '%' && (i + 2 >= user.size() || !is_hex(user[i + 1]) || !is_hex(user[i + 2]))) return true;
  }
  return false;
}

// libpq reads both postgresql://... and key=value strings; what the user has set stays.
std::string with_defaults(const std::string& url, const std::string& application_name) {
  const bool uri = url.starts_with("postgresql://") || url.starts_with("postgres://");
  std::string text = url;
  const auto set = [&](const std::string& key, const std::string& value) {
    if (text.find(key + "=") != std::string::npos) return;
    if (uri) {
      text += (text.find('?') == std::string::npos ? "?" : "&") + key + "=" + value;
    } else {
      text += " " + key + "=" + value;
    }
  };
  set("application_name", application_name);
  set("connect_timeout", "10");
  // A server that vanished without a word is noticed after about half a minute.
  set("keepalives_idle", "10");
  set("keepalives_interval", "5");
  set("keepalives_count", "4");
  set("client_encoding", "UTF8");
  return text;
}

// libpq quotes what it cannot read, passwords included: its complaint is shown without that, but for names of options.
std::string without_values(std::string_view complaint) {
  const bool names =
      complaint.starts_with("invalid URI query parameter") || complaint.starts_with("invalid connection option");
  std::string text;
  for (auto open = complaint.find('"'); !names && open != std::string_view::npos; open = complaint.find('"')) {
    text += std::string(complaint.substr(0, open)) + "...";
    const auto close = complaint.find('"', open + 1);
    complaint.remove_prefix(close == std::string_view::npos ? complaint.size() : close + 1);
  }
  text += complaint;
  while (text.ends_with('\n')) text.pop_back();
  return text;
}

void require_readable(const std::string& conninfo) {
  char* complaint = nullptr;
  PQconninfoOption* const options = PQconninfoParse(conninfo.c_str(), &complaint);
  PQconninfoFree(options);
  if (options != nullptr) return;
  const std::string text = complaint == nullptr ? "out of memory" : without_values(complaint);
  PQfreemem(complaint);
  throw Error(Fault::fatal, "connection.url cannot be read: " + text +
                                "; write postgresql://user:password@host:port/database?option=value");
}

}  // namespace

PostgresDatabase::PostgresDatabase(PostgresConfig config) : config_(std::move(config)) {
  if (has_raw_characters(config_.connection_url)) {
    throw Error(Fault::fatal,
                "user or password in connection.url hold a character that must be escaped there: write @ as %40, / as "
                "%2F, ? as %3F, # as %23 and % as %25, or leave the password out and set PGPASSWORD");
  }
  require_readable(with_defaults(config_.connection_url, config_.application_name));
}

std::string PostgresDatabase::name() const {
  // From the last '@' on there is no password: host, port and database.
  const auto at = config_.connection_url.rfind('@');
  const auto scheme = config_.connection_url.find("://");
  if (scheme == std::string::npos) return "PostgreSQL";
  const auto start = at == std::string::npos ? scheme + 3 : at + 1;
  return "PostgreSQL at " + config_.connection_url.substr(start, config_.connection_url.find('?', start) - start);
}

std::span<const sql::Migration> PostgresDatabase::migrations() const {
  return postgres_migrations();
}

std::unique_ptr<sql::Session> PostgresDatabase::connect() {
  Timeouts timeouts;
  timeouts.statement = config_.statement_timeout;
  return std::make_unique<PostgresSession>(with_defaults(config_.connection_url, config_.application_name), timeouts);
}

std::optional<sql::Table> PostgresDatabase::describe(sql::Session& session, const std::string& table) {
  return describe_table(session, dialect_, table);
}

std::string PostgresDatabase::name_to_create(sql::Session& session, const std::string& table) {
  const auto dot = table.find('.');
  if (dot != std::string::npos && table.find('.', dot + 1) == std::string::npos) {
    const std::array<Value, 1> schema{Text{std::string_view(table).substr(0, dot)}};
    if (!session.query("SELECT 1 FROM pg_namespace WHERE nspname = $1", schema).empty()) {
      return dialect_.quote(table.substr(0, dot)) + "." + dialect_.quote(table.substr(dot + 1));
    }
  }
  return dialect_.quote(table);
}

std::unique_ptr<sql::RowLoader> PostgresDatabase::loader(sql::Session& session, const sql::LoadPlan& plan) {
  auto& own = dynamic_cast<PostgresSession&>(session);
  if (plan.mode == sql::InsertMode::upsert) return std::make_unique<UpsertLoader>(own, dialect_, plan);
  return std::make_unique<CopyLoader>(own, dialect_, plan);
}

Findings PostgresDatabase::inspect(sql::Session& session, const sql::InspectionSubject& subject) {
  if (subject.table != nullptr) return inspect_table(session, subject);
  sql::InspectionSubject server = subject;
  server.port = dynamic_cast<PostgresSession&>(session).port();
  return inspect_server(session, server);
}

std::string PostgresDatabase::two_phase_obstacle(sql::Session& session) {
  if (session.query("SHOW max_prepared_transactions").at(0).at(0) != "0") return {};
  return "max_prepared_transactions is 0 on " + name() +
         ": set it to the number of tasks of all jobs or more in postgresql.conf and start the server again, or set "
         "\"commit.protocol\" to ledger, which needs no setting";
}

std::size_t PostgresDatabase::writers_max() const {
  return std::numeric_limits<std::size_t>::max();
}

}  // namespace sluice::postgres
