#include "sinks/postgres/inspect.h"

#include <array>
#include <string>

#include "sinks/sql/report.h"

namespace sluice::postgres {

namespace {

using sql::InspectionSubject;
using sql::Report;
using sql::Session;

std::string setting(Session& session, const std::string& name) {
  const std::array<Value, 1> argument{Text{name}};
  const auto rows = session.query("SELECT current_setting($1)", argument);
  return rows.empty() ? "" : rows.front().front().value_or("");
}

bool holds(Session& session, const std::string& condition, const std::string& argument = {}) {
  const std::array<Value, 1> arguments{Text{argument}};
  const auto rows = argument.empty() ? session.query("SELECT " + condition)
                                     : session.query("SELECT " + condition, std::span<const Value>(arguments));
  return !rows.empty() && rows.front().front() == "t";
}

void look_at_durability(Session& session, Report& report) {
  if (setting(session, "fsync") == "off") {
    report.add(Severity::warning, "fsync is off: a crash of the server's machine may damage the whole database",
               "set fsync = on");
  }
  if (setting(session, "synchronous_commit") == "off") {
    report.add(Severity::warning,
               "synchronous_commit is off: a crash of the server may take the last commits back, rows and positions "
               "together. Nothing is lost or doubled, but the job then stops until a person has looked",
               "set synchronous_commit = on for the job's user");
  }
}

void look_at_rights(Session& session, Report& report) {
  const bool tables = holds(session, "to_regclass('sluice_ledger') IS NOT NULL");
  if (!tables && !holds(session, "coalesce(has_schema_privilege(current_schema(), 'CREATE'), false)")) {
    report.add(Severity::problem, "the recovery tables are missing, and this user may create no table in its schema",
               "GRANT CREATE ON SCHEMA to the user for the first start, or let an administrator run the statements of "
               "`sluice migrate --print`");
  }
  if (!tables) return;
  const auto lacking = session.query(
      "SELECT t, string_agg(p, ', '), quote_ident(current_user) FROM unnest(ARRAY['sluice_ledger', "
      "'sluice_dead_letters', 'sluice_tables', 'sluice_migrations']) AS t, "
      "unnest(ARRAY['SELECT', 'INSERT', 'UPDATE', 'DELETE']) AS p WHERE to_regclass(t) IS NOT NULL AND NOT "
      "has_table_privilege(to_regclass(t), p) AND (t, p) <> ('sluice_ledger', 'DELETE') AND (t <> 'sluice_migrations' "
      "OR p = 'SELECT') GROUP BY t ORDER BY t");
  for (const auto& row : lacking) {
    const std::string rights = row[1].value_or("") + " on " + row[0].value_or("");
    report.add(Severity::problem, "this user lacks " + rights,
               "GRANT " + row[1].value_or("") + " ON " + row[0].value_or("") + " TO " + row[2].value_or(""));
  }
}

}  // namespace

Findings inspect_server(Session& session, const InspectionSubject& subject) {
  Report report;
  report.add(Severity::ok, "PostgreSQL " + setting(session, "server_version"));
  if (holds(session, "pg_is_in_recovery()")) {
    report.add(Severity::problem, "the server is a replica and takes no writes",
               "connect to the primary (target_session_attrs=read-write with several hosts)");
  }
  look_at_durability(session, report);
  if (subject.recovery_tables) look_at_rights(session, report);
  const auto ports = session.query("SELECT inet_server_port()");
  const std::string server = ports.empty() ? "" : ports.front().front().value_or("");
  if (!server.empty() && subject.port != 0 && server != std::to_string(subject.port)) {
    report.add(Severity::note,
               "the server listens on port " + server + ", the job connects to " + std::to_string(subject.port) +
                   ": a pooler or proxy is between. Every setting is made for its transaction, so that a transaction "
                   "pooler is fine; but ending the session of a dead process can then end another client's",
               "connect the job directly where that is possible");
  }
  const auto free_connections = session.query(
      "SELECT current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int - "
      "count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'");
  const int left = free_connections.empty() ? 0 : std::stoi(free_connections.front().front().value_or("0"));
  const auto needed = static_cast<int>(subject.tasks) + 1;
  if (left < needed) {
    report.add(Severity::warning,
               "the server has " + std::to_string(left) + " connections left, the job takes " + std::to_string(needed),
               "raise max_connections or lower \"parallelism\"");
  }
  return report.take();
}

namespace {

constexpr const char* facts_sql =
    "SELECT c.relkind, c.relpersistence, c.relreplident, row_security_active(c.oid), "
    "has_table_privilege(c.oid, 'INSERT') OR has_any_column_privilege(c.oid, 'INSERT'), "
    "has_table_privilege(c.oid, 'UPDATE') OR has_any_column_privilege(c.oid, 'UPDATE'), "
    "has_table_privilege(c.oid, 'SELECT') OR has_any_column_privilege(c.oid, 'SELECT'), "
    "has_table_privilege(c.oid, 'DELETE') "
    "FROM pg_class c WHERE c.oid = $1::oid";

void look_at_kind(const sql::Row& row, Report& report) {
  if (row[0] == "f") {
    report.add(Severity::problem, "it is a foreign table: its rows are not in the transaction of the ledger",
               "write to the server that holds the rows");
  }
  if (row[0] == "v") report.add(Severity::note, "it is a view: its rules and triggers decide where rows go");
  if (row[1] == "u") {
    report.add(Severity::problem,
               "it is UNLOGGED: a crash of the server empties it, while the ledger remembers what was in it",
               "ALTER TABLE ... SET LOGGED");
  }
}

void look_at_table_rights(const sql::Row& row, const InspectionSubject& subject, Report& report) {
  const std::string grant = "GRANT it to the job's user";
  if (row[4] != "t") report.add(Severity::problem, "this user may not INSERT", grant);
  if (subject.mode == sql::InsertMode::upsert && row[5] != "t") {
    report.add(Severity::problem, "this user may not UPDATE, which an upsert needs", grant);
  }
  if (subject.mode == sql::InsertMode::upsert && row[6] != "t") {
    report.add(Severity::problem, "this user may not SELECT, which an upsert needs", grant);
  }
  if (subject.erases && row[7] != "t") {
    report.add(Severity::problem, "this user may not DELETE, which delete.enabled needs", grant);
  }
  if (row[3] == "t" && subject.mode == sql::InsertMode::insert) {
    report.add(Severity::problem, "row-level security applies to this user, and COPY does not go past it",
               "ALTER ROLE ... BYPASSRLS, or insert.mode upsert");
  }
}

void look_at_rules(Session& session, std::span<const Value> oid, const InspectionSubject& subject, Report& report) {
  report.add_each(session.query("SELECT conname FROM pg_constraint WHERE conrelid = $1::oid AND contype = 'f'", oid),
                  Severity::note,
                  "foreign key {}: a row whose parent is not there yet is a bad record; each row is looked up",
                  "load the parent first, or drop the constraint while loading");
  report.add_each(session.query("SELECT tgname FROM pg_trigger WHERE tgrelid = $1::oid AND NOT tgisinternal AND "
                                "tgenabled <> 'D'",
                                oid),
                  Severity::note,
                  "trigger {}: it runs for every row, and again when an epoch is replayed; what it does outside this "
                  "database is not taken back");
  if (subject.mode == sql::InsertMode::insert) {
    report.add_each(
        session.query("SELECT rulename FROM pg_rewrite WHERE ev_class = $1::oid AND rulename <> '_RETURN'", oid),
        Severity::warning, "rule {}: COPY does not obey rules", "make a trigger of it");
  }
}

}  // namespace

Findings inspect_table(Session& session, const InspectionSubject& subject) {
  Report report;
  const std::array<Value, 1> oid{Text{subject.table->id}};
  const auto rows = session.query(facts_sql, oid);
  if (rows.empty()) return {};
  const sql::Row& row = rows.front();
  look_at_kind(row, report);
  look_at_table_rights(row, subject, report);
  look_at_rules(session, oid, subject, report);
  const bool replicated = holds(session,
                                "EXISTS (SELECT 1 FROM pg_publication_tables p JOIN pg_class c ON c.relname = "
                                "p.tablename JOIN pg_namespace n ON n.oid = c.relnamespace AND n.nspname = "
                                "p.schemaname WHERE c.oid = $1::oid)",
                                subject.table->id);
  const bool nameless = row[2] == "n" || (row[2] == "d" && !subject.table->has_primary_key);
  if (replicated && nameless && subject.mode == sql::InsertMode::upsert) {
    report.add(Severity::problem, "it is published without a replica identity: the server refuses every UPDATE",
               "ALTER TABLE ... REPLICA IDENTITY USING INDEX, or give it a primary key");
  }
  if (!subject.table->has_primary_key && subject.mode == sql::InsertMode::insert) {
    report.add(Severity::note,
               "it has no primary key: nothing but the ledger keeps rows from coming twice, which is enough");
  }
  return report.take();
}

}  // namespace sluice::postgres
