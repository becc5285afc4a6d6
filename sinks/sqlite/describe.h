// A table as SQLite's schema describes it.
#pragma once

#include <optional>
#include <string>

#include "sinks/sql/session.h"
#include "sinks/sql/table.h"

namespace sluice::sqlite {

// Nothing if there is no ordinary table of exactly that name: views and virtual tables cannot be upserted into.
std::optional<sql::Table> describe(sql::Session& session, const std::string& table);

}  // namespace sluice::sqlite
