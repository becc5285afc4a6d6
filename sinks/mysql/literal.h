// Values and cells as literals inside a statement. Pure.
// https://dev.mysql.com/doc/refman/9.7/en/string-literals.html: a backslash and a quote are all that must be escaped in
// utf8mb4 while sql_mode lacks NO_BACKSLASH_ESCAPES and ANSI_QUOTES, which every session of ours sees to.
#pragma once

#include <string>

#include "core/model/value.h"
#include "sinks/sql/cell_text.h"

namespace sluice::mysql {

// What these servers can store: text with NUL, JSON with its escape, booleans as 1 and 0.
constexpr sql::CellRules mysql_rules{.nul_in_text = true, .nul_escape_in_json = true, .boolean_digits = true};

// A statement's argument: Text, Bytes, int64 or Null.
void append_literal(const Value& value, std::string& out);

// A cell of a row. Only whole numbers stand without quotes: others would go through a decimal or a double on their way
// to the column, and bits of a text in quotes would be taken for the number.
void append_literal(const sql::CellText& cell, const sql::Column& column, std::string& out);

}  // namespace sluice::mysql
