// Tables as information_schema shows them. Internal to this folder.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sinks/mysql/dialect.h"
#include "sinks/sql/session.h"
#include "sinks/sql/table.h"

namespace sluice::mysql {

std::optional<sql::Table> describe_table(sql::Session& session, Flavour flavour, const std::string& table);

// A row of columns_sql: name, type, whole type, characters, digits, scale, nullable, default, extra, expression.
sql::Column column_from(const sql::Row& row);

// The values of enum('a','it''s').
std::vector<std::string> listed_values(std::string_view whole_type);

}  // namespace sluice::mysql
