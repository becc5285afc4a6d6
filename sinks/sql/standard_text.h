// Pieces of statements that PostgreSQL and SQLite write alike.
#pragma once

#include <string>
#include <string_view>

#include "sinks/sql/database.h"

namespace sluice::sql {

// "identifier", quotes in it doubled.
std::string double_quoted(std::string_view identifier);

// " ON CONFLICT (key) DO UPDATE SET ..." with all columns but the key's; DO NOTHING where there are no others.
std::string on_conflict_update(const Dialect& dialect, const LoadPlan& plan);

}  // namespace sluice::sql
