#include "sinks/postgres/describe.h"

#include <array>
#include <map>
#include <string_view>

namespace sluice::postgres {

using sql::Family;

namespace {

constexpr int varchar_header = 4;  // a type modifier counts it

Family family_of(const std::string& type) {
  static const std::map<std::string_view, Family> families{{"bool", Family::boolean},
                                                           {"int2", Family::int16},
                                                           {"int4", Family::int32},
                                                           {"int8", Family::int64},
                                                           {"numeric", Family::numeric},
                                                           {"float4", Family::float32},
                                                           {"float8", Family::float64},
                                                           {"text", Family::text},
                                                           {"varchar", Family::text},
                                                           {"bpchar", Family::text},
                                                           {"name", Family::text},
                                                           {"bytea", Family::bytes},
                                                           {"date", Family::date},
                                                           {"time", Family::time},
                                                           {"timestamp", Family::timestamp},
                                                           {"timestamptz", Family::timestamptz},
                                                           {"json", Family::json},
                                                           {"jsonb", Family::json},
                                                           {"uuid", Family::uuid}};
  const auto found = families.find(type);
  return found == families.end() ? Family::other : found->second;
}

sql::Column column_from(const sql::Row& row) {
  sql::Column column;
  column.name = row[0].value_or("");
  column.type_name = row[1].value_or("");
  const std::string type = row[2].value_or("");
  column.family = family_of(type);
  const int modifier = std::stoi(row[3].value_or("-1"));
  if (modifier >= varchar_header) {
    const int packed = modifier - varchar_header;
    if (type == "varchar" || type == "bpchar") column.length_max = packed;
    if (type == "numeric") {
      column.precision = packed >> 16;
      column.scale = ((packed & 0x7ff) ^ 1024) - 1024;  // eleven bits, signed
    }
  }
  column.nullable = row[4] == "f";
  column.has_default = row[5] == "t";
  column.generated = row[6] == "t";
  return column;
}

// Indexes that can decide a conflict: unique, valid, over plain columns, for all rows, checked at once.
constexpr const char* keys_sql =
    "SELECT i.indexrelid, i.indisprimary, a.attname "
    "FROM pg_index i CROSS JOIN LATERAL unnest(i.indkey) WITH ORDINALITY AS k(attnum, position) "
    "JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.attnum "
    "WHERE i.indrelid = $1::oid AND i.indisunique AND i.indisvalid AND i.indimmediate "
    "AND i.indpred IS NULL AND i.indexprs IS NULL AND k.position <= i.indnkeyatts "
    "ORDER BY i.indisprimary DESC, i.indexrelid, k.position";

constexpr const char* columns_sql =
    "SELECT a.attname, format_type(a.atttypid, -1), t.typname, a.atttypmod, a.attnotnull, "
    "a.atthasdef OR a.attidentity <> '', a.attgenerated <> '' OR a.attidentity = 'a' "
    "FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid "
    "WHERE a.attrelid = $1::oid AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum";

constexpr const char* table_sql =
    "SELECT c.oid, n.nspname, c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace "
    "WHERE c.oid = to_regclass($1) AND c.relkind IN ('r', 'p', 'v', 'f')";

std::vector<sql::Row> find(sql::Session& session, const std::string& quoted) {
  const std::array<Value, 1> name{Text{quoted}};
  return session.query(table_sql, name);
}

}  // namespace

std::optional<sql::Table> describe_table(sql::Session& session, const sql::Dialect& dialect, const std::string& table) {
  auto found = find(session, dialect.quote(table));
  const auto dot = table.find('.');
  if (found.empty() && dot != std::string::npos) {
    found = find(session, dialect.quote(table.substr(0, dot)) + "." + dialect.quote(table.substr(dot + 1)));
  }
  if (found.empty()) return std::nullopt;
  const std::string oid = found.front()[0].value_or("");
  const std::array<Value, 1> argument{Text{oid}};
  sql::Table described;
  described.id = oid;
  described.schema = found.front()[1].value_or("");
  described.name = found.front()[2].value_or("");
  for (const sql::Row& row : session.query(columns_sql, argument)) described.columns.push_back(column_from(row));
  std::string index;
  for (const sql::Row& row : session.query(keys_sql, argument)) {
    if (row[0] != index) described.unique_keys.emplace_back();
    index = row[0].value_or("");
    described.unique_keys.back().push_back(row[2].value_or(""));
    if (row[1] == "t") described.has_primary_key = true;
  }
  return described;
}

}  // namespace sluice::postgres
