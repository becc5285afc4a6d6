#include "sinks/postgres/dialect.h"

#include "sinks/sql/standard_text.h"

namespace sluice::postgres {

using sql::Family;

std::string PostgresDialect::quote(std::string_view identifier) const {
  return sql::double_quoted(identifier);
}

std::string PostgresDialect::placeholder(std::size_t n) const {
  return "$" + std::to_string(n);
}

std::string PostgresDialect::type_for(Kind kind, bool) const {
  switch (kind) {
    case Kind::boolean:
      return "BOOLEAN";
    case Kind::integer:
      return "BIGINT";
    case Kind::real:
      return "DOUBLE PRECISION";
    case Kind::decimal:
      return "NUMERIC";
    case Kind::timestamp:
      return "TIMESTAMPTZ";
    case Kind::bytes:
      return "BYTEA";
    case Kind::json:
      return "JSONB";
    case Kind::text:
      return "TEXT";
  }
  return "TEXT";
}

// Of the statement, not of the transaction: an epoch may be long.
std::string PostgresDialect::now() const {
  return "clock_timestamp()";
}

std::string PostgresDialect::unless_present() const {
  return "ON CONFLICT DO NOTHING";
}

std::string PostgresDialect::hex(std::string_view column) const {
  return "encode(" + std::string(column) + ", 'hex')";
}

std::string PostgresDialect::check_rules_at_once() const {
  return "SET CONSTRAINTS ALL IMMEDIATE";
}

// https://www.postgresql.org/docs/current/errcodes-appendix.html: integrity constraints, triggered data changes, views
// with a check option, RAISE in a function.
bool PostgresDialect::is_rule(std::string_view code) const {
  return code.starts_with("23") || code == "27000" || code == "44000" || code == "P0001" || code == "P0004";
}

// The number is arbitrary ("sluice" in ASCII) and the same in every process.
std::string PostgresDialect::migration_lock() const {
  return "SELECT pg_advisory_xact_lock(126979698484069)";
}

std::string quoted_table(const sql::Dialect& dialect, const sql::LoadPlan& plan) {
  return dialect.quote(plan.schema) + "." + dialect.quote(plan.table);
}

std::string quoted_columns(const sql::Dialect& dialect, const sql::LoadPlan& plan) {
  std::string names;
  for (const auto& column : plan.columns) names += (names.empty() ? "" : ", ") + dialect.quote(column.name);
  return names;
}

namespace {

// unnest() flattens arrays of arrays and wants the element type spelled: what is not plain travels as text.
bool travels_as_itself(const sql::Column& column) {
  switch (column.family) {
    case Family::json:
    case Family::bytes:
    case Family::other:
      return false;
    default:
      return true;
  }
}

// The n-th parameter: an array of the column's cells.
std::string array_parameter(const sql::Dialect& dialect, std::size_t n, const sql::Column& column) {
  return dialect.placeholder(n) + "::" + (travels_as_itself(column) ? column.type_name : "text") + "[]";
}

// An element of that array in the column's type.
std::string typed(const std::string& element, const sql::Column& column) {
  return travels_as_itself(column) ? element : element + "::" + column.type_name;
}

}  // namespace

std::string upsert_from_arrays(const sql::Dialect& dialect, const sql::LoadPlan& plan) {
  std::string cells;
  std::string arrays;
  std::string names;
  for (std::size_t i = 0; i < plan.columns.size(); ++i) {
    const sql::Column& column = plan.columns[i];
    const std::string separator = i == 0 ? "" : ", ";
    const std::string name = "c" + std::to_string(i + 1);
    cells += separator + typed(name, column);
    arrays += separator + array_parameter(dialect, i + 1, column);
    names += separator + name;
  }
  return "INSERT INTO " + quoted_table(dialect, plan) + " (" + quoted_columns(dialect, plan) + ") SELECT " + cells +
         " FROM unnest(" + arrays + ") AS rows(" + names + ")" + on_conflict_update(dialect, plan);
}

namespace {

// The arrays of the key's cells, their elements' names, and the condition that a row of the table has that key.
struct GivenKeys {
  std::string arrays;
  std::string names;
  std::string same;
};

GivenKeys given_keys(const sql::Dialect& dialect, const sql::LoadPlan& plan) {
  GivenKeys given;
  for (std::size_t i = 0; i < plan.key.size(); ++i) {
    const sql::Column& column = plan.columns[plan.key[i]];
    const std::string name = "k" + std::to_string(i + 1);
    const std::string separator = i == 0 ? "" : ", ";
    given.arrays += separator + array_parameter(dialect, i + 1, column);
    given.names += separator + name;
    given.same +=
        (i == 0 ? "" : " AND ") + ("known." + dialect.quote(column.name)) + " = " + typed("given." + name, column);
  }
  return given;
}

}  // namespace

std::string known_keys_in_arrays(const sql::Dialect& dialect, const sql::LoadPlan& plan) {
  const GivenKeys given = given_keys(dialect, plan);
  // A subquery in this place looks each key up by itself, whatever the planner thinks of the table's size.
  return "SELECT place - 1 FROM unnest(" + given.arrays + ") WITH ORDINALITY AS given(" + given.names +
         ", place) WHERE (SELECT true FROM " + quoted_table(dialect, plan) + " AS known WHERE " + given.same +
         " LIMIT 1) ORDER BY place";
}

std::string erase_keys_in_arrays(const sql::Dialect& dialect, const sql::LoadPlan& plan) {
  const GivenKeys given = given_keys(dialect, plan);
  return "DELETE FROM " + quoted_table(dialect, plan) + " AS known USING unnest(" + given.arrays + ") AS given(" +
         given.names + ") WHERE " + given.same;
}

}  // namespace sluice::postgres
