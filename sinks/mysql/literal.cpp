#include "sinks/mysql/literal.h"

#include <string_view>

#include "sinks/sql/byte_text.h"

namespace sluice::mysql {

namespace {

void append_quoted(std::string_view text, std::string& out) {
  out += '\'';
  std::size_t start = 0;  // runs of ordinary bytes are appended whole: they are the rule
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c != '\'' && c != '\\' && c != '\0') continue;
    out.append(text, start, i - start);
    out += '\\';
    start = i;
    if (c != '\0') continue;
    out += '0';
    start = i + 1;
  }
  out.append(text, start, std::string_view::npos);
  out += '\'';
}

bool is_whole_number(sql::Family family) {
  return family == sql::Family::boolean || family == sql::Family::int16 || family == sql::Family::int32 ||
         family == sql::Family::int64;
}

void append_bytes(std::string_view bytes, std::string& out) {
  out += "x'";
  sql::append_hex(bytes, out);
  out += '\'';
}

}  // namespace

void append_literal(const Value& value, std::string& out) {
  if (const auto* text = std::get_if<Text>(&value)) {
    append_quoted(text->utf8, out);
  } else if (const auto* bytes = std::get_if<Bytes>(&value)) {
    append_bytes(bytes->raw, out);
  } else if (const auto* number = std::get_if<std::int64_t>(&value)) {
    out += std::to_string(*number);
  } else {
    out += "NULL";
  }
}

void append_literal(const sql::CellText& cell, const sql::Column& column, std::string& out) {
  switch (cell.form) {
    case sql::CellForm::null:
      out += "NULL";
      break;
    case sql::CellForm::plain:
      if (is_whole_number(column.family)) {
        out += cell.text;
        break;
      }
      out += '\'';
      out += cell.text;
      out += '\'';
      break;
    case sql::CellForm::text:
      append_quoted(cell.text, out);
      break;
    case sql::CellForm::bytes:
      append_bytes(cell.text, out);
      break;
    case sql::CellForm::refused:
      break;
  }
}

}  // namespace sluice::mysql
