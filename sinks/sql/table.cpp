#include "sinks/sql/table.h"

#include <algorithm>

#include "sinks/sql/database.h"

namespace sluice::sql {

const Column* Table::find(const std::string& column) const {
  const auto found = std::find_if(columns.begin(), columns.end(), [&](const Column& c) { return c.name == column; });
  return found == columns.end() ? nullptr : &*found;
}

std::string Database::name_to_create(Session&, const std::string& table) {
  return dialect().quote(table);
}

}  // namespace sluice::sql
