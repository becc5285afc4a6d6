// Cells as PostgreSQL reads them inside array literals.
// https://www.postgresql.org/docs/current/arrays.html, "Array Input and Output Syntax"
#pragma once

#include <string>
#include <string_view>

#include "sinks/sql/cell_text.h"

namespace sluice::postgres {

// What PostgreSQL's text cannot hold. jsonb cannot hold the escape \u0000, json can; both are refused alike, since a
// later ALTER would trip over it.
constexpr sql::CellRules postgres_rules{};

// What stands in front of the hexadecimal digits of a bytea in a line of COPY.
constexpr std::string_view copy_hex = "\\\\x";

// Appends one element, without its delimiter.
void append_array_element(const sql::CellText& cell, std::string& array);

}  // namespace sluice::postgres
