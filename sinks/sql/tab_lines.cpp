#include "sinks/sql/tab_lines.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

#include "sinks/sql/byte_text.h"

namespace sluice::sql {

namespace {

// The letter that stands behind a backslash for each byte that the format gives a meaning; 0: the byte stands for
// itself.
constexpr std::array<char, 256> escape_letters = [] {
  std::array<char, 256> escapes{};
  escapes['\\'] = '\\';
  escapes['\t'] = 't';
  escapes['\n'] = 'n';
  escapes['\r'] = 'r';
  return escapes;
}();

void append_escaped(std::string_view text, std::string& out) {
  std::size_t start = 0;  // runs of ordinary bytes are appended whole: they are the rule
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char letter = escape_letters[static_cast<unsigned char>(text[i])];
    if (letter == 0) continue;
    out.append(text, start, i - start);
    out += '\\';
    out += letter;
    start = i + 1;
  }
  out.append(text, start, std::string_view::npos);
}

// Which bytes of a word the format gives a meaning; eight at a time, since that is what nearly every text is asked.
// "Determine if a word has a byte equal to n": https://graphics.stanford.edu/~seander/bithacks.html
std::uint64_t special_bytes(std::uint64_t word) {
  constexpr std::uint64_t ones = 0x0101010101010101;
  constexpr std::uint64_t highs = 0x8080808080808080;
  std::uint64_t found = 0;
  for (const char letter : {'\\', '\t', '\n', '\r'}) {
    const std::uint64_t difference = word ^ (ones * static_cast<unsigned char>(letter));
    found |= (difference - ones) & ~difference & highs;
  }
  return found;
}

// Copies the text and tells whether it may stay as it is. The last word overlaps the one before it.
bool copied_plain(std::string_view text, char* out) {
  const auto copy_word = [&](std::size_t at) {
    std::uint64_t word = 0;
    std::memcpy(&word, text.data() + at, sizeof word);
    std::memcpy(out + at, &word, sizeof word);
    return special_bytes(word);
  };
  std::uint64_t found = 0;
  if (text.size() >= sizeof found) {
    std::size_t at = 0;
    for (; at + sizeof found <= text.size(); at += sizeof found) found |= copy_word(at);
    if (at < text.size()) found |= copy_word(text.size() - sizeof found);
  } else {
    for (std::size_t i = 0; i < text.size(); ++i) {
      out[i] = text[i];
      found |= static_cast<unsigned char>(escape_letters[static_cast<unsigned char>(text[i])]);
    }
  }
  return found == 0;
}

}  // namespace

void TabLines::grow(std::size_t size) {
  text_.resize(std::max(2 * text_.size(), size_ + size));
}

void TabLines::append_cell(const CellText& cell) {
  switch (cell.form) {
    case CellForm::null:
      append("\\N");
      break;
    case CellForm::plain:
      append(cell.text);
      break;
    case CellForm::text:
      if (copied_plain(cell.text, room(cell.text.size()))) {
        size_ += cell.text.size();
        break;
      }
      escaped_.clear();
      append_escaped(cell.text, escaped_);
      append(escaped_);
      break;
    case CellForm::bytes:
      escaped_ = before_hex_;
      append_hex(cell.text, escaped_);
      append(escaped_);
      break;
    case CellForm::refused:
      break;
  }
}

}  // namespace sluice::sql
