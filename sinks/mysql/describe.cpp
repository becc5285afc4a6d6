#include "sinks/mysql/describe.h"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <utility>

namespace sluice::mysql {

using sql::Column;
using sql::Family;
using sql::Row;
using sql::Session;

namespace {

constexpr const char* columns_sql =
    "SELECT COLUMN_NAME, DATA_TYPE, COLUMN_TYPE, CHARACTER_MAXIMUM_LENGTH, NUMERIC_PRECISION, NUMERIC_SCALE, "
    "IS_NULLABLE, COLUMN_DEFAULT, EXTRA, GENERATION_EXPRESSION FROM information_schema.COLUMNS "
    "WHERE TABLE_SCHEMA = ? AND TABLE_NAME = ? ORDER BY ORDINAL_POSITION";

// Indexes that can decide a conflict: unique, over whole columns, none of which may be NULL.
constexpr const char* keys_sql =
    "SELECT INDEX_NAME, COLUMN_NAME, SUB_PART, NULLABLE FROM information_schema.STATISTICS "
    "WHERE TABLE_SCHEMA = ? AND TABLE_NAME = ? AND NON_UNIQUE = 0 "
    "ORDER BY INDEX_NAME <> 'PRIMARY', INDEX_NAME, SEQ_IN_INDEX";

// The name is compared byte by byte: information_schema ignores case.
constexpr const char* table_sql =
    "SELECT t.TABLE_SCHEMA, t.TABLE_NAME, coalesce(t.CREATE_TIME, ''), t.ENGINE, e.TRANSACTIONS "
    "FROM information_schema.TABLES t LEFT JOIN information_schema.ENGINES e ON e.ENGINE = t.ENGINE "
    "WHERE t.TABLE_SCHEMA = coalesce(?, database()) AND BINARY t.TABLE_NAME = BINARY ? "
    "AND t.TABLE_TYPE IN ('BASE TABLE', 'VIEW')";

constexpr const char* json_checks_sql =
    "SELECT CHECK_CLAUSE FROM information_schema.CHECK_CONSTRAINTS WHERE CONSTRAINT_SCHEMA = ? AND TABLE_NAME = ?";

Family family_of(const std::string& type) {
  static const std::map<std::string_view, Family> families{
      {"tinyint", Family::boolean},    {"smallint", Family::int16},      {"mediumint", Family::int32},
      {"int", Family::int32},          {"bigint", Family::int64},        {"bit", Family::int64},
      {"year", Family::int16},         {"decimal", Family::numeric},     {"float", Family::float32},
      {"double", Family::float64},     {"char", Family::text},           {"varchar", Family::text},
      {"tinytext", Family::text},      {"text", Family::text},           {"mediumtext", Family::text},
      {"longtext", Family::text},      {"binary", Family::bytes},        {"varbinary", Family::bytes},
      {"tinyblob", Family::bytes},     {"blob", Family::bytes},          {"mediumblob", Family::bytes},
      {"longblob", Family::bytes},     {"date", Family::date},           {"time", Family::time},
      {"datetime", Family::timestamp}, {"timestamp", Family::timestamp}, {"json", Family::json},
      {"uuid", Family::uuid},          {"enum", Family::enumeration},    {"set", Family::set}};
  const auto found = families.find(type);
  return found == families.end() ? Family::other : found->second;
}

constexpr std::uint64_t bits(int count) {
  return count >= 64 ? std::numeric_limits<std::uint64_t>::max() : (std::uint64_t{1} << count) - 1;
}

int bits_of(const std::string& type) {
  if (type == "tinyint") return 8;
  if (type == "smallint") return 16;
  if (type == "mediumint") return 24;
  if (type == "int") return 32;
  return type == "bigint" ? 64 : 0;
}

std::optional<sql::IntegerRange> range_of(const std::string& type, bool is_unsigned, int precision) {
  if (type == "bit") return sql::IntegerRange{0, bits(precision)};
  if (type == "year") return sql::IntegerRange{1901, 2155};
  const int width = bits_of(type);
  if (width == 0) return std::nullopt;
  if (is_unsigned) return sql::IntegerRange{0, bits(width)};
  if (type != "tinyint" && type != "mediumint") return std::nullopt;  // the family has that range
  const auto max = static_cast<std::int64_t>(bits(width - 1));
  return sql::IntegerRange{-max - 1, static_cast<std::uint64_t>(max)};
}

int integer(const std::optional<std::string>& cell) {
  return cell ? static_cast<int>(std::min<long long>(std::stoll(*cell), std::numeric_limits<int>::max())) : 0;
}

void add_keys(Session& session, std::span<const Value> name, sql::Table& table) {
  std::vector<std::pair<std::string, std::vector<std::string>>> keys;
  std::map<std::string, bool> usable;
  for (const Row& row : session.query(keys_sql, name)) {
    const std::string index = row[0].value_or("");
    if (keys.empty() || keys.back().first != index) keys.emplace_back(index, std::vector<std::string>{});
    keys.back().second.push_back(row[1].value_or(""));
    const bool whole = row[1].has_value() && !row[2].has_value() && row[3] != "YES";
    usable.try_emplace(index, true).first->second &= whole;
  }
  for (auto& [index, columns] : keys) {
    if (!usable.at(index)) continue;
    table.has_primary_key = table.has_primary_key || index == "PRIMARY";
    table.unique_keys.push_back(std::move(columns));
  }
}

// MariaDB's JSON is LONGTEXT with a check.
void mark_json(Session& session, std::span<const Value> name, sql::Table& table) {
  for (const Row& row : session.query(json_checks_sql, name)) {
    for (Column& column : table.columns) {
      if (row[0] == "json_valid(`" + column.name + "`)") column.family = Family::json;
    }
  }
}

std::optional<Row> find(Session& session, const Value& schema, const std::string& table) {
  const std::array<Value, 2> name{schema, Text{table}};
  auto rows = session.query(table_sql, name);
  return rows.empty() ? std::nullopt : std::optional(std::move(rows.front()));
}

}  // namespace

std::vector<std::string> listed_values(std::string_view whole_type) {
  std::vector<std::string> values;
  std::size_t i = whole_type.find('(');
  while (i < whole_type.size() && (i = whole_type.find('\'', i)) != std::string_view::npos) {
    std::string& value = values.emplace_back();
    for (++i; i < whole_type.size(); ++i) {
      if (whole_type[i] == '\'') {
        if (whole_type.substr(i + 1, 1) != "'") break;  // two of them stand for one
        ++i;
      }
      if (whole_type[i] == '\\' && i + 1 < whole_type.size()) {
        constexpr std::string_view letters = "nrt0";
        constexpr std::string_view meanings{"\n\r\t\0", 4};
        const auto letter = letters.find(whole_type[++i]);
        value += letter == std::string_view::npos ? whole_type[i] : meanings[letter];
        continue;
      }
      value += whole_type[i];
    }
    ++i;
  }
  return values;
}

Column column_from(const Row& row) {
  Column column;
  const std::string type = row[1].value_or("");
  column.name = row[0].value_or("");
  column.type_name = row[2].value_or("");
  column.family = family_of(type);
  const bool is_unsigned = column.type_name.find("unsigned") != std::string::npos;
  column.range = range_of(type, is_unsigned, integer(row[4]));
  if (type == "bit" && row[4] == "1") column.family = Family::boolean;
  if (type == "char" || type == "varchar" || (column.family == Family::bytes && type != "longblob")) {
    column.length_max = integer(row[3]);
  }
  if (column.family == Family::numeric) {
    column.precision = integer(row[4]);
    column.scale = integer(row[5]);
  }
  if (column.family == Family::enumeration || column.family == Family::set) {
    column.allowed = listed_values(column.type_name);
  }
  const std::string extra = row[8].value_or("");
  column.nullable = row[6] == "YES";
  column.has_default = row[7].has_value() || extra.find("auto_increment") != std::string::npos;
  column.generated = !row[9].value_or("").empty();
  return column;
}

std::optional<sql::Table> describe_table(Session& session, Flavour flavour, const std::string& table) {
  auto found = find(session, Null{}, table);
  const auto dot = table.find('.');
  if (!found && dot != std::string::npos) {
    const std::string schema = table.substr(0, dot);
    found = find(session, Text{schema}, table.substr(dot + 1));
  }
  if (!found) return std::nullopt;
  sql::Table described;
  described.schema = found->at(0).value_or("");
  described.name = found->at(1).value_or("");
  described.id = found->at(2).value_or("");
  if (found->at(3) && found->at(4) != "YES") {
    described.obstacle = "its engine " + *found->at(3) +
                         " knows no transactions, so that rows and positions cannot move together: ALTER TABLE ... "
                         "ENGINE = InnoDB";
  }
  const std::array<Value, 2> name{Text{described.schema}, Text{described.name}};
  for (const Row& row : session.query(columns_sql, name)) described.columns.push_back(column_from(row));
  add_keys(session, name, described);
  if (flavour == Flavour::mariadb) mark_json(session, name, described);
  return described;
}

}  // namespace sluice::mysql
