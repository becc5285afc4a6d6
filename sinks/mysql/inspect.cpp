#include "sinks/mysql/inspect.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "core/model/error.h"
#include "sinks/mysql/dialect.h"
#include "sinks/mysql/literal.h"
#include "sinks/sql/report.h"

namespace sluice::mysql {

namespace {

using sql::InspectionSubject;
using sql::Report;

std::string cell(sql::Session& session, const std::string& sql, std::span<const Value> arguments = {}) {
  const auto rows = session.query(sql, arguments);
  return rows.empty() ? "" : rows.front().front().value_or("");
}

// PREPARE asks for the rights of a statement, wherever they come from (roles too), and runs nothing. Seen on MySQL 9.7
// and MariaDB 10.11; information_schema tells the rights of the user alone, and SHOW GRANTS not those of roles.
bool may(MysqlSession& session, const std::string& statement) {
  std::string sql = "PREPARE sluice_may FROM ";
  append_literal(Text{statement}, sql);
  try {
    session.run(sql);
  } catch (const Error& error) {
    if (error.fault() == Fault::retryable) throw;
    return !error.code().starts_with("1142 ");  // another complaint is not about rights on the table
  }
  session.run("DEALLOCATE PREPARE sluice_may");
  return true;
}

// As GRANT names it.
std::string this_user(MysqlSession& session) {
  std::string user = cell(session, "SELECT current_user()");
  const std::size_t at = user.rfind('@');
  if (at == std::string::npos) return user;
  const MysqlDialect dialect;
  return dialect.quote(user.substr(0, at)) + "@" + dialect.quote(user.substr(at + 1));
}

constexpr const char* grant = "GRANT it to the job's user";

void look_at_recovery_tables(MysqlSession& session, Report& report) {
  const auto known = session.query(
      "SELECT 1 FROM information_schema.TABLES WHERE TABLE_SCHEMA = database() AND TABLE_NAME = 'sluice_ledger'");
  if (known.empty() && !may(session, "CREATE TABLE sluice_ledger (job INT)")) {
    return report.add(Severity::problem,
                      "the recovery tables are missing, and this user may create no table in its database",
                      "GRANT CREATE to the user for the first start, or let an administrator run the statements of "
                      "`sluice migrate --print`");
  }
  const std::string user = this_user(session);
  const std::string database = MysqlDialect().quote(cell(session, "SELECT database()")) + ".";
  // Also where they are not there yet: to have created a table gives no rights on it here.
  for (const std::string table : {"sluice_ledger", "sluice_dead_letters", "sluice_tables"}) {
    const std::array<std::pair<std::string, std::string>, 4> statements{{
        {"SELECT", "SELECT 1 FROM " + table},
        {"INSERT", "INSERT INTO " + table + " () VALUES ()"},
        {"UPDATE", "UPDATE " + table + " SET job = job"},
        {"DELETE", "DELETE FROM " + table},
    }};
    std::string lacking;
    for (const auto& [right, statement] : statements) {
      if ((table == "sluice_ledger" && right == "DELETE") || may(session, statement)) continue;
      lacking += (lacking.empty() ? "" : ", ") + right;
    }
    if (lacking.empty()) continue;
    report.add(Severity::problem, "this user lacks " + lacking + " on " + table,
               "GRANT " + lacking + " ON " + database + (known.empty() ? "*" : table) + " TO " + user);
  }
}

void look_at_rights(MysqlSession& session, const InspectionSubject& subject, Report& report) {
  const sql::Table& table = *subject.table;
  const MysqlDialect dialect;
  const std::string name = dialect.quote(table.schema) + "." + dialect.quote(table.name);
  const auto written =
      std::find_if(table.columns.begin(), table.columns.end(), [](const auto& c) { return !c.generated; });
  const bool upserts = subject.mode == sql::InsertMode::upsert;
  if (!may(session, "INSERT INTO " + name + " () VALUES ()")) {
    report.add(Severity::problem, "this user may not INSERT", grant);
  }
  if (upserts && written != table.columns.end() &&
      !may(session, "UPDATE " + name + " SET " + dialect.quote(written->name) + " = NULL")) {
    report.add(Severity::problem, "this user may not UPDATE, which an upsert needs", grant);
  }
  if (upserts && !may(session, "SELECT 1 FROM " + name)) {
    report.add(Severity::problem, "this user may not SELECT, which an upsert needs", grant);
  }
  if (subject.erases && !may(session, "DELETE FROM " + name)) {
    report.add(Severity::problem, "this user may not DELETE, which delete.enabled needs", grant);
  }
}

void look_at_durability(MysqlSession& session, Report& report) {
  if (cell(session, "SELECT @@innodb_flush_log_at_trx_commit") != "1") {
    report.add(
        Severity::warning,
        "innodb_flush_log_at_trx_commit is not 1: a crash of the server may take the last commits back, rows and "
        "positions together. Nothing is lost or doubled, but the job then stops until a person has looked",
        "SET GLOBAL innodb_flush_log_at_trx_commit = 1");
  }
  if (cell(session, "SELECT @@log_bin") == "1" && cell(session, "SELECT @@sync_binlog") != "1") {
    report.add(Severity::warning,
               "sync_binlog is not 1: after a crash of the server replicas may lack the last commits",
               "SET GLOBAL sync_binlog = 1");
  }
}

void look_at_connections(MysqlSession& session, const InspectionSubject& subject, Report& report) {
  const std::string used =
      cell(session,
           "SELECT VARIABLE_VALUE FROM " +
               std::string(session.server().flavour == Flavour::mariadb ? "information_schema" : "performance_schema") +
               (session.server().flavour == Flavour::mariadb ? ".GLOBAL_STATUS" : ".global_status") +
               " WHERE VARIABLE_NAME = 'Threads_connected'");
  const std::string all = cell(session, "SELECT @@max_connections");
  const int left = std::stoi(all.empty() ? "0" : all) - std::stoi(used.empty() ? "0" : used);
  const auto needed = static_cast<int>(subject.tasks) + 1;
  if (left >= needed) return;
  report.add(Severity::warning,
             "the server has " + std::to_string(left) + " connections left, the job takes " + std::to_string(needed),
             "raise max_connections or lower \"parallelism\"");
}

}  // namespace

Findings inspect_server(MysqlSession& session, const InspectionSubject& subject) {
  Report report;
  const bool mariadb = session.server().flavour == Flavour::mariadb;
  report.add(Severity::ok, (mariadb ? "MariaDB " : "MySQL ") + cell(session, "SELECT version()"));
  if (cell(session, "SELECT @@read_only") == "1") {
    report.add(Severity::warning, "the server is read-only but for administrators", "connect to the primary");
  }
  look_at_durability(session, report);
  if (subject.mode == sql::InsertMode::insert && !session.server().local_infile) {
    report.add(Severity::note,
               "local_infile is off: rows go in by INSERT, which is slower than LOAD DATA by a third or more",
               "SET GLOBAL local_infile = 1, where only clients that you trust connect");
  }
  if (subject.recovery_tables) look_at_recovery_tables(session, report);
  look_at_connections(session, subject, report);
  return report.take();
}

Findings inspect_table(MysqlSession& session, const InspectionSubject& subject) {
  Report report;
  const std::array<Value, 2> name{Text{subject.table->schema}, Text{subject.table->name}};
  if (!subject.table->obstacle.empty()) report.add(Severity::problem, subject.table->obstacle);
  look_at_rights(session, subject, report);
  report.add_each(session.query("SELECT CONSTRAINT_NAME FROM information_schema.REFERENTIAL_CONSTRAINTS WHERE "
                                "CONSTRAINT_SCHEMA = ? AND TABLE_NAME = ?",
                                name),
                  Severity::note,
                  "foreign key {}: a row whose parent is not there yet is a bad record; each row is looked up",
                  "load the parent first, or drop the constraint while loading");
  report.add_each(session.query("SELECT TRIGGER_NAME FROM information_schema.TRIGGERS WHERE EVENT_OBJECT_SCHEMA = ? "
                                "AND EVENT_OBJECT_TABLE = ?",
                                name),
                  Severity::note,
                  "trigger {}: it runs for every row, and again when an epoch is replayed; what it does outside this "
                  "database is not taken back");
  if (subject.mode == sql::InsertMode::upsert && subject.table->unique_keys.size() > 1) {
    report.add(Severity::note,
               "it has more unique indexes than the key: a record that meets a row of another key through one of them "
               "is a bad record, and that row stays as it is");
  }
  if (!subject.table->has_primary_key && subject.mode == sql::InsertMode::insert) {
    report.add(Severity::note,
               "it has no primary key: nothing but the ledger keeps rows from coming twice, which is enough");
  }
  return report.take();
}

}  // namespace sluice::mysql
