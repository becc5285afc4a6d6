#include "sinks/sql/migrator.h"

#include <algorithm>
#include <map>

#include "core/model/error.h"
#include "core/model/fingerprint.h"

namespace sluice::sql {

std::string file_name(const Migration& migration) {
  std::string version = std::to_string(migration.version);
  return std::string(4 - std::min<std::size_t>(4, version.size()), '0') + version + "_" + std::string(migration.name);
}

std::vector<std::string> Migrator::missing() {
  std::vector<std::string> names;
  for (const auto* migration : pending()) names.push_back(file_name(*migration));
  return names;
}

std::string Migrator::script() {
  const auto pending = this->pending();
  if (pending.empty()) return {};
  std::string text = table_sql() + ";\n\n";
  for (const auto* migration : pending) {
    text += "-- " + file_name(*migration) + '\n' + std::string(migration->sql) + record_sql(*migration) + ";\n\n";
  }
  return text;
}

std::vector<std::string> Migrator::apply() {
  // The usual start finds everything in place: then it takes one statement and no lock.
  if (pending().empty()) return {};
  try {
    return apply_pending();
  } catch (const Error& error) {
    if (error.fault() != Fault::fatal) throw;
    throw Error(
        Fault::fatal,
        "cannot make the recovery tables in " + database_.name() + ": " + error.what() +
            ". Or let somebody who may do it run `sluice migrate` once, or what `sluice migrate --print` prints",
        error.code());
  }
}

std::vector<std::string> Migrator::apply_pending() {
  session_.begin();
  lock();
  session_.execute(table_sql());
  std::vector<std::string> names;
  for (const auto* migration : pending()) {  // again, now that nobody else can apply them
    session_.execute(std::string(migration->sql));
    session_.execute(record_sql(*migration));
    names.push_back(file_name(*migration));
  }
  session_.commit();
  if (const std::string unlock = database_.dialect().migration_unlock(); !unlock.empty()) session_.query(unlock);
  return names;
}

void Migrator::lock() {
  const std::string lock = database_.dialect().migration_lock();
  if (lock.empty()) return;
  const auto got = session_.query(lock).at(0).at(0);
  if (got && *got != "0") return;
  throw Error(Fault::retryable,
              "another process is creating the recovery tables in " + database_.name() + " and has not come to an end");
}

std::string Migrator::table_sql() const {
  const Dialect& dialect = database_.dialect();
  return "CREATE TABLE IF NOT EXISTS sluice_migrations (version " + dialect.type_for(Kind::integer, true) +
         " NOT NULL PRIMARY KEY, name " + dialect.type_for(Kind::text, false) + " NOT NULL, checksum " +
         dialect.type_for(Kind::text, false) + " NOT NULL, applied_at " + dialect.type_for(Kind::timestamp, false) +
         " NOT NULL)";
}

// Names and checksums are this program's own and need no escape.
std::string Migrator::record_sql(const Migration& migration) const {
  return "INSERT INTO sluice_migrations (version, name, checksum, applied_at) VALUES (" +
         std::to_string(migration.version) + ", '" + std::string(migration.name) + "', '" + fingerprint(migration.sql) +
         "', " + database_.dialect().now() + ")";
}

std::vector<const Migration*> Migrator::pending() {
  std::map<int, std::string> applied;
  if (database_.describe(session_, "sluice_migrations")) {
    for (const Row& row : session_.query("SELECT version, checksum FROM sluice_migrations")) {
      applied.emplace(std::stoi(row[0].value_or("0")), row[1].value_or(""));
    }
  }
  std::vector<const Migration*> pending;
  for (const Migration& migration : database_.migrations()) {
    const auto found = applied.find(migration.version);
    if (found == applied.end()) {
      pending.push_back(&migration);
    } else if (found->second != fingerprint(migration.sql)) {
      throw Error(Fault::fatal, "migration " + file_name(migration) + " was applied to " + database_.name() +
                                    " with another text than this program has: the recovery tables are not the ones it "
                                    "knows. Use the version of Sluice that made them");
    }
  }
  const int newest = database_.migrations().empty() ? 0 : database_.migrations().back().version;
  if (!applied.empty() && applied.rbegin()->first > newest) {
    throw Error(Fault::fatal, "the recovery tables in " + database_.name() + " are of version " +
                                  std::to_string(applied.rbegin()->first) + ", this program knows up to " +
                                  std::to_string(newest) + ": a newer Sluice has upgraded them. Use that version");
  }
  return pending;
}

}  // namespace sluice::sql
