#include "sinks/mysql/mysql_database.h"

#include <algorithm>
#include <array>
#include <limits>

#include "core/model/error.h"
#include "core/model/fingerprint.h"
#include "sinks/mysql/describe.h"
#include "sinks/mysql/inspect.h"
#include "sinks/mysql/loader.h"
#include "sinks/mysql/session.h"

namespace sluice::mysql {

// Made from migrations/mysql/ and migrations/mariadb/.
std::span<const sql::Migration> mysql_migrations();
std::span<const sql::Migration> mariadb_migrations();

namespace {

MysqlSession& own(sql::Session& session) {
  return dynamic_cast<MysqlSession&>(session);
}

}  // namespace

MysqlDatabase::MysqlDatabase(const MysqlConfig& config)
    : address_(parse_url(config.connection_url)),
      answer_timeout_(config.answer_timeout),
      flavour_(config.connection_url.starts_with("mariadb") ? Flavour::mariadb : Flavour::mysql) {}

std::string MysqlDatabase::name() const {
  return (flavour_ == Flavour::mariadb ? "MariaDB at " : "MySQL at ") + address_.shown();
}

std::span<const sql::Migration> MysqlDatabase::migrations() const {
  return flavour_ == Flavour::mariadb ? mariadb_migrations() : mysql_migrations();
}

std::unique_ptr<sql::Session> MysqlDatabase::connect() {
  Timeouts timeouts;
  timeouts.answer = answer_timeout_;
  try {
    auto session = std::make_unique<MysqlSession>(address_, timeouts);
    flavour_ = session->server().flavour;
    return session;
  } catch (const Error& error) {
    throw Error(error.fault(), name() + ": " + error.what(), error.code());
  }
}

std::optional<sql::Table> MysqlDatabase::describe(sql::Session& session, const std::string& table) {
  return describe_table(session, flavour_, table);
}

std::string MysqlDatabase::name_to_create(sql::Session& session, const std::string& table) {
  const auto dot = table.find('.');
  if (dot != std::string::npos && table.find('.', dot + 1) == std::string::npos) {
    const std::string schema = table.substr(0, dot);
    const std::array<Value, 1> name{Text{schema}};
    if (!session.query("SELECT 1 FROM information_schema.SCHEMATA WHERE SCHEMA_NAME = ?", name).empty()) {
      return dialect_.quote(schema) + "." + dialect_.quote(table.substr(dot + 1));
    }
  }
  return dialect_.quote(table);
}

namespace {

// MariaDB's LOAD DATA makes a new number of a 0 that goes into an AUTO_INCREMENT column, whatever sql_mode says.
bool loads_zero_as_it_is(MysqlSession& session, const sql::LoadPlan& plan) {
  if (session.server().flavour != Flavour::mariadb) return true;
  const std::array<Value, 2> table{Text{plan.schema}, Text{plan.table}};
  const auto counting = session.query(
      "SELECT COLUMN_NAME FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = ? AND TABLE_NAME = ? "
      "AND EXTRA LIKE '%auto_increment%'",
      table);
  return std::none_of(plan.columns.begin(), plan.columns.end(), [&](const sql::Column& column) {
    return !counting.empty() && counting.front().front() == column.name;
  });
}

}  // namespace

std::unique_ptr<sql::RowLoader> MysqlDatabase::loader(sql::Session& session, const sql::LoadPlan& plan) {
  MysqlSession& to = own(session);
  if (plan.mode == sql::InsertMode::insert && to.server().local_infile && loads_zero_as_it_is(to, plan)) {
    return std::make_unique<LoadDataLoader>(to, dialect_, plan);
  }
  return std::make_unique<InsertLoader>(to, dialect_, plan);
}

Findings MysqlDatabase::inspect(sql::Session& session, const sql::InspectionSubject& subject) {
  return subject.table == nullptr ? inspect_server(own(session), subject) : inspect_table(own(session), subject);
}

// MySQL before 8.0.29 loses prepared branches in places (xa_detach_on_prepare came with it), MariaDB before 10.5 loses
// those of a session that disconnects.
std::string MysqlDatabase::two_phase_obstacle(sql::Session& session) {
  const Server& server = own(session).server();
  const bool mariadb = server.flavour == Flavour::mariadb;
  const std::string instead = ", or set \"commit.protocol\" to ledger, which needs no setting";
  if (server.version < (mariadb ? 100'500 : 80'029)) {
    return name() + " is too old to prepare transactions that outlive their session: use " +
           (mariadb ? "MariaDB 10.5" : "MySQL 8.0.29") + " or newer" + instead;
  }
  try {
    session.prepared_transactions();
  } catch (const Error& error) {
    if (error.fault() != Fault::fatal && !error.code().starts_with("1401 ")) throw;
    return "this user may not list prepared transactions of " + name() + ": GRANT XA_RECOVER_ADMIN ON *.* to it" +
           instead;
  }
  return {};
}

// gtrid holds 64 bytes, and branches of all databases of a server share their names.
std::string MysqlDatabase::transaction_prefix(const std::string& job, const std::string& sink) const {
  return "sluice/" + job.substr(0, 30) + "-" + fingerprint(address_.database + "\n" + job + "\n" + sink) + "/";
}

std::size_t MysqlDatabase::writers_max() const {
  return std::numeric_limits<std::size_t>::max();
}

}  // namespace sluice::mysql
