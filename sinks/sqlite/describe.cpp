#include "sinks/sqlite/describe.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "sinks/sqlite/dialect.h"

namespace sluice::sqlite {
namespace {

using sql::Column;
using sql::Row;
using sql::Table;

// SQLite's own look-up of names ignores case; the list of tables tells them apart.
bool exists(sql::Session& session, const Value& name) {
  return !session
              .query("SELECT 1 FROM pragma_table_list(?1) WHERE schema = 'main' AND name = ?1 AND type = 'table'",
                     std::array{name})
              .empty();
}

// Columns, and the primary key's names in the key's order.
std::vector<std::string> add_columns(sql::Session& session, const Value& name, Table& table) {
  // hidden: 0 ordinary, 2 and 3 generated.
  const auto rows = session.query(
      "SELECT name, type, \"notnull\", dflt_value IS NOT NULL, pk, hidden FROM pragma_table_xinfo(?1) WHERE hidden <> "
      "1 "
      "ORDER BY cid",
      std::array{name});
  std::vector<std::pair<int, std::string>> key;
  for (const Row& row : rows) {
    Column column;
    column.name = row.at(0).value_or("");
    column.type_name = row.at(1).value_or("");
    column.family = family_of(column.type_name);
    const int key_place = std::stoi(row.at(4).value_or("0"));
    // SQLite lets a primary key be NULL, but a row without its key could not be found again.
    column.nullable = row.at(2) == "0" && key_place == 0;
    column.has_default = row.at(3) == "1";
    column.generated = row.at(5) != "0";
    if (key_place > 0) key.emplace_back(key_place, column.name);
    table.columns.push_back(std::move(column));
  }
  std::sort(key.begin(), key.end());
  std::vector<std::string> names;
  for (auto& [place, column] : key) names.push_back(std::move(column));
  return names;
}

// INTEGER PRIMARY KEY is the row's number under another name: SQLite makes one up when it is left out.
void mark_row_number(sql::Session& session, const Value& name, const std::vector<std::string>& key, Table& table) {
  if (key.size() != 1) return;
  const bool indexed =
      !session.query("SELECT 1 FROM pragma_index_list(?1) WHERE origin = 'pk'", std::array{name}).empty();
  for (Column& column : table.columns) {
    if (column.name == key.front() && !indexed) column.has_default = true;
  }
}

void add_unique_indexes(sql::Session& session, const Value& name, Table& table) {
  const auto indexes = session.query(
      "SELECT name FROM pragma_index_list(?1) WHERE \"unique\" = 1 AND partial = 0 AND origin <> 'pk' ORDER BY seq "
      "DESC",
      std::array{name});
  for (const Row& index : indexes) {
    const Value index_name = Text{index.at(0).value()};
    std::vector<std::string> columns;
    bool usable = true;
    for (const Row& part :
         session.query("SELECT name FROM pragma_index_info(?1) ORDER BY seqno", std::array{index_name})) {
      usable = usable && part.at(0).has_value();  // an expression has no name
      columns.push_back(part.at(0).value_or(""));
    }
    if (usable) table.unique_keys.push_back(std::move(columns));
  }
}

}  // namespace

std::optional<Table> describe(sql::Session& session, const std::string& table_name) {
  const Value name = Text{table_name};
  if (!exists(session, name)) return std::nullopt;
  Table table;
  table.name = table_name;
  auto key = add_columns(session, name, table);
  mark_row_number(session, name, key, table);
  if (!key.empty()) {
    table.has_primary_key = true;
    table.unique_keys.push_back(std::move(key));
  }
  add_unique_indexes(session, name, table);
  return table;
}

}  // namespace sluice::sqlite
