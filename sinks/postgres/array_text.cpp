#include "sinks/postgres/array_text.h"

#include "sinks/sql/byte_text.h"

namespace sluice::postgres {

using sql::CellForm;

namespace {

// The rest of an element that stands in quotes.
void append_escaped(std::string_view text, std::string& out) {
  std::size_t start = 0;  // runs of ordinary bytes are appended whole: they are the rule
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '"' && text[i] != '\\') continue;
    out.append(text, start, i - start);
    out += '\\';
    start = i;
  }
  out.append(text, start, std::string_view::npos);
}

}  // namespace

void append_array_element(const sql::CellText& cell, std::string& array) {
  switch (cell.form) {
    case CellForm::null:
      array += "NULL";
      break;
    case CellForm::plain:
      array += '"';
      array += cell.text;
      array += '"';
      break;
    case CellForm::text:
      array += '"';
      append_escaped(cell.text, array);
      array += '"';
      break;
    case CellForm::bytes:
      array += "\"\\\\x";
      sql::append_hex(cell.text, array);
      array += '"';
      break;
    case CellForm::refused:
      break;
  }
}

}  // namespace sluice::postgres
