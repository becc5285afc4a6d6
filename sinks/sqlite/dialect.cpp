#include "sinks/sqlite/dialect.h"

#include <algorithm>
#include <array>
#include <utility>

#include "sinks/sql/standard_text.h"

namespace sluice::sqlite {
namespace {

// Upper case, without what stands in parentheses: "Decimal(10, 2)" is DECIMAL.
std::string bare(std::string_view declared) {
  std::string type(declared.substr(0, declared.find('(')));
  while (!type.empty() && type.back() == ' ') type.pop_back();
  std::transform(type.begin(), type.end(), type.begin(),
                 [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; });
  return type;
}

bool contains(std::string_view type, std::string_view part) {
  return type.find(part) != std::string_view::npos;
}

}  // namespace

std::string SqliteDialect::quote(std::string_view identifier) const {
  return sql::double_quoted(identifier);
}

std::string SqliteDialect::placeholder(std::size_t n) const {
  return "?" + std::to_string(n);
}

std::string SqliteDialect::type_for(Kind kind, bool) const {
  switch (kind) {
    case Kind::boolean:
      return "BOOLEAN";
    case Kind::integer:
      return "BIGINT";
    case Kind::real:
      return "DOUBLE PRECISION";
    case Kind::json:
      return "JSON";
    case Kind::bytes:
      return "BLOB";
    case Kind::decimal:  // a NUMERIC column would keep 15 digits
    case Kind::timestamp:
    case Kind::text:
      return "TEXT";
  }
  return "TEXT";
}

std::string SqliteDialect::now() const {
  return "strftime('%Y-%m-%dT%H:%M:%fZ', 'now')";
}

std::string SqliteDialect::unless_present() const {
  return "ON CONFLICT DO NOTHING";
}

// hex() of NULL would be an empty text.
std::string SqliteDialect::hex(std::string_view column) const {
  const std::string name(column);
  return "CASE WHEN " + name + " IS NOT NULL THEN hex(" + name + ") END";
}

// A foreign key that was declared as deferred cannot be checked earlier.
std::string SqliteDialect::check_rules_at_once() const {
  return {};
}

bool SqliteDialect::is_rule(std::string_view code) const {
  return code.starts_with("SQLITE_CONSTRAINT") && code != "SQLITE_CONSTRAINT_DATATYPE";
}

// BEGIN IMMEDIATE took the only write lock.
std::string SqliteDialect::migration_lock() const {
  return {};
}

Affinity affinity_of(std::string_view declared_type) {
  std::string type(declared_type);  // with the parentheses, as SQLite looks at it
  std::transform(type.begin(), type.end(), type.begin(),
                 [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; });
  if (contains(type, "INT")) return Affinity::integer;
  if (contains(type, "CHAR") || contains(type, "CLOB") || contains(type, "TEXT")) return Affinity::text;
  if (type.empty() || contains(type, "BLOB")) return Affinity::blob;
  if (contains(type, "REAL") || contains(type, "FLOA") || contains(type, "DOUB")) return Affinity::real;
  return Affinity::numeric;
}

sql::Family family_of(std::string_view declared_type) {
  using sql::Family;
  using Named = std::pair<std::string_view, Family>;
  // Times are kept in UTC without an offset, which is what SQLite's own date functions take.
  static constexpr auto kNamed = std::to_array<Named>({
      {"BOOLEAN", Family::boolean},
      {"BOOL", Family::boolean},
      {"NUMERIC", Family::numeric},
      {"DECIMAL", Family::numeric},
      {"JSON", Family::json},
      {"JSONB", Family::json},
      {"DATE", Family::date},
      {"TIME", Family::time},
      {"DATETIME", Family::timestamp},
      {"TIMESTAMP", Family::timestamp},
      {"TIMESTAMPTZ", Family::timestamp},
      {"TIMESTAMP WITH TIME ZONE", Family::timestamp},
      {"TIMESTAMP WITHOUT TIME ZONE", Family::timestamp},
      {"UUID", Family::uuid},
      {"BYTEA", Family::bytes},
      {"BINARY", Family::bytes},
      {"VARBINARY", Family::bytes},
  });
  const std::string type = bare(declared_type);
  for (const auto& [name, family] : kNamed) {
    if (type == name) return family;
  }
  switch (affinity_of(declared_type)) {
    case Affinity::integer:
      return Family::int64;
    case Affinity::text:
      return Family::text;
    case Affinity::real:
      return Family::float64;
    case Affinity::blob:
      return type.empty() ? Family::other : Family::bytes;
    case Affinity::numeric:
      break;
  }
  return Family::other;
}

}  // namespace sluice::sqlite
