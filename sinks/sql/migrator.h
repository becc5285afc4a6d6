// Creates and upgrades the recovery tables from the embedded files of migrations/<database>/. Forward only.
#pragma once

#include <string>
#include <vector>

#include "sinks/sql/database.h"

namespace sluice::sql {

class Migrator {
 public:
  // Both are borrowed.
  Migrator(Database& database, Session& session) : database_(database), session_(session) {}

  // Applies what is missing, all in one transaction where the database can do that, and returns its names
  // ("0001_ledger"). Several processes may call it at once. Throws fatal when an applied file's text has changed since,
  // or the tables are newer than this program.
  std::vector<std::string> apply();

  // Names of what apply() would do. Changes nothing.
  std::vector<std::string> missing();

  // What apply() would run, for somebody else to run; empty: nothing is missing. Changes nothing.
  std::string script();

 private:
  std::vector<const Migration*> pending();
  std::vector<std::string> apply_pending();
  void lock();
  std::string table_sql() const;
  std::string record_sql(const Migration& migration) const;

  Database& database_;
  Session& session_;
};

std::string file_name(const Migration& migration);

}  // namespace sluice::sql
