#include "sinks/mysql/inspect.h"

#include <array>
#include <string>

#include "sinks/sql/report.h"

namespace sluice::mysql {

namespace {

using sql::InspectionSubject;
using sql::Report;

std::string cell(sql::Session& session, const std::string& sql, std::span<const Value> arguments = {}) {
  const auto rows = session.query(sql, arguments);
  return rows.empty() ? "" : rows.front().front().value_or("");
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
  look_at_connections(session, subject, report);
  return report.take();
}

Findings inspect_table(MysqlSession& session, const InspectionSubject& subject) {
  Report report;
  const std::array<Value, 2> name{Text{subject.table->schema}, Text{subject.table->name}};
  if (!subject.table->obstacle.empty()) report.add(Severity::problem, subject.table->obstacle);
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
