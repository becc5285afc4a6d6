#pragma once

#include <optional>
#include <string>

#include "sinks/sql/database.h"

namespace sluice::postgres {

std::optional<sql::Table> describe_table(sql::Session& session, const sql::Dialect& dialect, const std::string& table);

}  // namespace sluice::postgres
