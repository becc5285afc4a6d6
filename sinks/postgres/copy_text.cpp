#include "sinks/postgres/copy_text.h"

#include <array>
#include <cstdint>
#include <cstring>

namespace sluice::postgres {

using sql::CellForm;

namespace {

constexpr std::string_view hex_digits = "0123456789abcdef";

// The letter that stands behind a backslash for each byte that COPY gives a meaning; 0: the byte stands for itself.
constexpr std::array<char, 256> copy_escapes = [] {
  std::array<char, 256> escapes{};
  escapes['\\'] = '\\';
  escapes['\t'] = 't';
  escapes['\n'] = 'n';
  escapes['\r'] = 'r';
  return escapes;
}();

// Runs of ordinary bytes are appended whole: they are the rule.
template <class Escape>
void append_escaped(std::string_view text, std::string& out, Escape escape) {
  std::size_t start = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char letter = escape(text[i]);
    if (letter == 0) continue;
    out.append(text, start, i - start);
    out += '\\';
    out += letter;
    start = i + 1;
  }
  out.append(text, start, std::string_view::npos);
}

// Whether COPY gives none of the bytes a meaning; eight at a time, since that is what nearly every text is asked.
// "Determine if a word has a byte equal to n": https://graphics.stanford.edu/~seander/bithacks.html
bool is_plain(std::string_view text) {
  constexpr std::uint64_t ones = 0x0101010101010101;
  constexpr std::uint64_t highs = 0x8080808080808080;
  std::uint64_t found = 0;
  while (text.size() >= 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, text.data(), 8);
    for (const char letter : {'\\', '\t', '\n', '\r'}) {
      const std::uint64_t difference = word ^ (ones * static_cast<unsigned char>(letter));
      found |= (difference - ones) & ~difference & highs;
    }
    text.remove_prefix(8);
  }
  if (found != 0) return false;
  for (const char c : text) {
    if (copy_escapes[static_cast<unsigned char>(c)] != 0) return false;
  }
  return true;
}

void append_hex(std::string_view bytes, std::string& out) {
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    out += hex_digits[byte >> 4];
    out += hex_digits[byte & 15];
  }
}

}  // namespace

void append_copy_field(const sql::CellText& cell, std::string& line) {
  switch (cell.form) {
    case CellForm::null:
      line += "\\N";
      break;
    case CellForm::plain:
      line += cell.text;
      break;
    case CellForm::text:
      if (is_plain(cell.text)) {
        line += cell.text;
        break;
      }
      append_escaped(cell.text, line, [](char c) { return copy_escapes[static_cast<unsigned char>(c)]; });
      break;
    case CellForm::bytes:
      line += "\\\\x";
      append_hex(cell.text, line);
      break;
    case CellForm::refused:
      break;
  }
}

void append_array_element(CellForm form, std::string_view text, std::string& array) {
  switch (form) {
    case CellForm::null:
      array += "NULL";
      break;
    case CellForm::plain:
      array += '"';
      array += text;
      array += '"';
      break;
    case CellForm::text:
      array += '"';
      append_escaped(text, array, [](char c) { return c == '"' || c == '\\' ? c : '\0'; });
      array += '"';
      break;
    case CellForm::bytes:
      array += "\"\\\\x";
      append_hex(text, array);
      array += '"';
      break;
    case CellForm::refused:
      break;
  }
}

}  // namespace sluice::postgres
