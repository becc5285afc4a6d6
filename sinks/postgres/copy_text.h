// Cells as PostgreSQL reads them in COPY's text format and inside array literals.
// https://www.postgresql.org/docs/current/sql-copy.html, "Text Format"; .../arrays.html, "Array Input and Output
// Syntax"
#pragma once

#include <string>
#include <string_view>

#include "sinks/sql/cell_text.h"

namespace sluice::postgres {

// Appends one field, without its delimiter.
void append_copy_field(const sql::CellText& cell, std::string& line);

// Appends one element, without its delimiter.
void append_array_element(sql::CellForm form, std::string_view text, std::string& array);

}  // namespace sluice::postgres
