#include "sinks/mysql/dialect.h"

#include <algorithm>
#include <cstdlib>

#include "sinks/mysql/errors.h"

namespace sluice::mysql {

using sql::Family;

std::string MysqlDialect::quote(std::string_view identifier) const {
  std::string quoted = "`";
  for (const char c : identifier) quoted.append(c == '`' ? 2 : 1, c);
  return quoted + '`';
}

std::string MysqlDialect::placeholder(std::size_t) const {
  return "?";
}

// Text that is compared byte by byte: a key in another collation would take 'a' and 'A' for one.
std::string MysqlDialect::type_for(Kind kind, bool key) const {
  switch (kind) {
    case Kind::boolean:
      return "BOOLEAN";
    case Kind::integer:
      return "BIGINT";
    case Kind::real:
      return "DOUBLE";
    case Kind::decimal:
      return "DECIMAL(65, 30)";
    case Kind::timestamp:
      return "DATETIME(6)";
    case Kind::bytes:
      return key ? "VARBINARY(255)" : "LONGBLOB";
    case Kind::json:
      return "JSON";
    case Kind::text:
      return key ? "VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin" : "LONGTEXT CHARACTER SET utf8mb4";
  }
  return "LONGTEXT CHARACTER SET utf8mb4";
}

std::string MysqlDialect::now() const {
  return "utc_timestamp(6)";
}

// Not INSERT IGNORE, which leaves out rows for any other reason, too.
std::string MysqlDialect::unless_present() const {
  return "ON DUPLICATE KEY UPDATE job = job";
}

std::string MysqlDialect::hex(std::string_view column) const {
  return "hex(" + std::string(column) + ")";
}

// No rule waits for the commit.
std::string MysqlDialect::check_rules_at_once() const {
  return {};
}

// A code is the server's error number, a blank, and the SQLSTATE.
bool MysqlDialect::is_rule(std::string_view code) const {
  const auto blank = code.find(' ');
  const std::string_view sqlstate = blank == std::string_view::npos ? std::string_view() : code.substr(blank + 1);
  return mysql::is_rule(std::atoi(std::string(code.substr(0, blank)).c_str()), sqlstate);
}

// DDL ends the transaction, so that the lock must be one of the session.
std::string MysqlDialect::migration_lock() const {
  return "SELECT get_lock(concat('sluice-migrations-', left(database(), 40)), 60)";
}

std::string MysqlDialect::migration_unlock() const {
  return "SELECT release_lock(concat('sluice-migrations-', left(database(), 40)))";
}

std::string quoted_table(const sql::Dialect& dialect, const sql::LoadPlan& plan) {
  return (plan.schema.empty() ? "" : dialect.quote(plan.schema) + ".") + dialect.quote(plan.table);
}

std::string insert_head(const sql::Dialect& dialect, const sql::LoadPlan& plan) {
  std::string names;
  for (const auto& column : plan.columns) names += (names.empty() ? "" : ", ") + dialect.quote(column.name);
  return "INSERT INTO " + quoted_table(dialect, plan) + " (" + names + ") VALUES ";
}

namespace {

constexpr std::string_view new_row = "sluice_new";

}  // namespace

// ON DUPLICATE KEY UPDATE also takes a row that another unique index finds. Such a row has another key: then a subquery
// with two rows makes the server refuse the record (1242) instead of changing that row. NULL would not do: in an
// AUTO_INCREMENT column both servers store 0 for it. The subquery has the key's own type, so that IF() converts
// nothing.
std::string insert_tail(const sql::Dialect& dialect, const sql::LoadPlan& plan, Flavour flavour) {
  if (plan.mode != sql::InsertMode::upsert) return {};
  const auto incoming = [&](const sql::Column& column) {
    const std::string name = dialect.quote(column.name);
    return flavour == Flavour::mariadb ? "VALUES(" + name + ")" : std::string(new_row) + "." + name;
  };
  const std::string table = dialect.quote(plan.table);
  std::string changes;
  for (const std::size_t i : plan.key) {
    const sql::Column& column = plan.columns[i];
    const std::string here = table + "." + dialect.quote(column.name);
    changes += (changes.empty() ? "" : ", ") + here + " = IF(" + here + " <=> " + incoming(column) + ", " + here +
               ", (SELECT " + here + " UNION ALL SELECT " + here + "))";
  }
  for (std::size_t i = 0; i < plan.columns.size(); ++i) {
    if (std::find(plan.key.begin(), plan.key.end(), i) != plan.key.end()) continue;
    const sql::Column& column = plan.columns[i];
    changes += ", " + table + "." + dialect.quote(column.name) + " = " + incoming(column);
  }
  return (flavour == Flavour::mariadb ? "" : " AS " + std::string(new_row)) + " ON DUPLICATE KEY UPDATE " + changes;
}

namespace {

// What cannot be read from the line as it is goes through a variable.
std::string conversion(const sql::Column& column, const std::string& variable) {
  if (column.family == Family::bytes) return "unhex(" + variable + ")";
  if (column.type_name.starts_with("bit")) return "CAST(" + variable + " AS UNSIGNED)";
  return {};
}

}  // namespace

std::string load_statement(const sql::Dialect& dialect, const sql::LoadPlan& plan, std::string_view path) {
  std::string fields;
  std::string conversions;
  for (std::size_t i = 0; i < plan.columns.size(); ++i) {
    const sql::Column& column = plan.columns[i];
    const std::string variable = "@sluice_" + std::to_string(i + 1);
    const std::string converted = conversion(column, variable);
    fields += (i == 0 ? "" : ", ") + (converted.empty() ? dialect.quote(column.name) : variable);
    if (converted.empty()) continue;
    conversions += (conversions.empty() ? " SET " : ", ") + dialect.quote(column.name) + " = " + converted;
  }
  return "LOAD DATA LOCAL INFILE '" + std::string(path) + "' INTO TABLE " + quoted_table(dialect, plan) +
         " CHARACTER SET utf8mb4 FIELDS TERMINATED BY '\\t' ESCAPED BY '\\\\' LINES TERMINATED BY '\\n' (" + fields +
         ")" + conversions;
}

}  // namespace sluice::mysql
