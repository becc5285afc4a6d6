#include "sinks/sql/known_tables.h"

#include <utility>

#include "sinks/sql/statement.h"

namespace sluice::sql {

namespace {

void add_where(Statement& sql, const std::string& job, const std::string& sink, const std::string& topic) {
  sql << " WHERE job = ";
  sql.bind(job) << " AND sink = ";
  sql.bind(sink) << " AND topic = ";
  sql.bind(topic);
}

}  // namespace

KnownTables::KnownTables(const Dialect& dialect, std::string job, std::string sink)
    : dialect_(dialect), job_(std::move(job)), sink_(std::move(sink)) {}

std::optional<std::string> KnownTables::find(Session& session, const std::string& topic) const {
  Statement sql(dialect_);
  sql << "SELECT table_id FROM sluice_tables";
  add_where(sql, job_, sink_, topic);
  const auto rows = sql.query(session);
  return rows.empty() ? std::nullopt : std::optional(rows.front().front().value_or(""));
}

void KnownTables::remember(Session& session, const std::string& topic, const std::string& id) const {
  Statement insert(dialect_);
  insert << "INSERT INTO sluice_tables (job, sink, topic, table_id) VALUES (";
  insert.bind(job_) << ", ";
  insert.bind(sink_) << ", ";
  insert.bind(topic) << ", ";
  insert.bind(id) << ") " << dialect_.unless_present();
  insert.execute(session);
  Statement update(dialect_);
  update << "UPDATE sluice_tables SET table_id = ";
  update.bind(id);
  add_where(update, job_, sink_, topic);
  update.execute(session);
}

void KnownTables::forget(Session& session, const std::string& topic) const {
  Statement sql(dialect_);
  sql << "DELETE FROM sluice_tables";
  add_where(sql, job_, sink_, topic);
  sql.execute(session);
}

}  // namespace sluice::sql
