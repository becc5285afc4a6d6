// Values against column types, for every database: the text that the server will read exactly, or why it does not fit.
// Pure; called for every cell of every row, so the two commonest cases are inline and nothing is allocated or copied
// that need not be. The rules, type by type, are in cell_text.cpp.
#pragma once

#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "core/model/value.h"
#include "sinks/sql/table.h"

namespace sluice::sql {

enum class CellForm : std::uint8_t {
  null,
  plain,  // ASCII letters, digits and "+-.: " only: safe in COPY, in an array literal, in quotes
  text,   // UTF-8 that the caller must escape
  bytes,  // raw bytes that the caller must encode
  refused,
};

struct CellText {
  CellForm form = CellForm::null;
  std::string_view text;         // plain, text, bytes: points into the value or into the buffer
  const char* reason = nullptr;  // refused: continues "column x: ..."; never holds the value
};

// Where a cell's text is made when it cannot point into the value. The text lives until the buffer's next use.
struct CellBuffer {
  std::array<char, 48> print;
  std::string grown;
};

// In what databases differ.
struct CellRules {
  bool nul_in_text = false;         // may text hold the character NUL?
  bool nul_escape_in_json = false;  // may JSON hold the escape \u0000? (PostgreSQL's json may, its jsonb may not)
  bool boolean_digits = false;      // a boolean is a whole number of one byte, written as 1 or 0
};

constexpr bool fits_int32(std::int64_t integer) {
  return integer == static_cast<std::int32_t>(integer);
}

namespace detail {
CellText cell_text_general(const Value& value, const Column& column, CellBuffer& buffer, CellRules rules);
}

inline CellText cell_text(const Value& value, const Column& column, CellBuffer& buffer, CellRules rules = {}) {
  if (const auto* integer = std::get_if<std::int64_t>(&value);
      integer != nullptr &&
      (column.family == Family::int64 || (column.family == Family::int32 && fits_int32(*integer))) && !column.range) {
    char* const begin = buffer.print.data();
    const auto printed = std::to_chars(begin, begin + buffer.print.size(), *integer);
    return {CellForm::plain, {begin, static_cast<std::size_t>(printed.ptr - begin)}};
  }
  if (const auto* text = std::get_if<Text>(&value);
      text != nullptr && column.family == Family::text && !column.length_max &&
      (rules.nul_in_text || text->utf8.empty() || std::memchr(text->utf8.data(), 0, text->utf8.size()) == nullptr)) {
    return {CellForm::text, text->utf8};
  }
  return detail::cell_text_general(value, column, buffer, rules);
}

}  // namespace sluice::sql
