// Cells as PostgreSQL reads them in COPY's text format and inside array literals.
// https://www.postgresql.org/docs/current/sql-copy.html, "Text Format"; .../arrays.html, "Array Input and Output
// Syntax"
#pragma once

#include <cstddef>
#include <cstring>
#include <string>
#include <string_view>

#include "sinks/sql/cell_text.h"

namespace sluice::postgres {

// What PostgreSQL's text cannot hold. jsonb cannot hold the escape \u0000, json can; both are refused alike, since a
// later ALTER would trip over it.
constexpr sql::CellRules postgres_rules{false, false};

// How much text goes to libpq at once.
constexpr std::size_t copy_bytes_per_send = std::size_t{32} * 1024;

// Lines of COPY's text format, made in place. A line may be of no bytes: one empty text.
class CopyLines {
 public:
  explicit CopyLines(std::size_t bytes) : text_(bytes, '\0') {}

  bool empty() const { return lines_ == 0; }
  std::size_t size() const { return size_; }
  // Without a newline behind the last line.
  std::string_view text() const { return {text_.data(), size_}; }
  void clear() { lines_ = size_ = 0; }

  void begin_line() {
    line_start_ = size_;
    if (lines_ > 0) delimit('\n');
    ++lines_;
    fields_ = 0;
  }
  // Takes the last line back.
  void drop_line() {
    size_ = line_start_;
    --lines_;
  }
  void append_field(const sql::CellText& cell) {
    if (fields_ > 0) delimit('\t');
    ++fields_;
    append_cell(cell);
  }

 private:
  // At least `size` bytes behind the end.
  char* room(std::size_t size) {
    if (size > text_.size() - size_) grow(size);
    return text_.data() + size_;
  }
  void grow(std::size_t size);
  void delimit(char delimiter) {
    *room(1) = delimiter;
    ++size_;
  }
  void append_cell(const sql::CellText& cell);
  void append(std::string_view text) {
    std::memcpy(room(text.size()), text.data(), text.size());
    size_ += text.size();
  }

  std::string text_;  // as long as its room
  std::size_t size_ = 0;
  std::size_t line_start_ = 0;  // of the last line
  std::size_t lines_ = 0;
  std::size_t fields_ = 0;  // of the last line
  std::string escaped_;
};

// Appends one element, without its delimiter.
void append_array_element(const sql::CellText& cell, std::string& array);

}  // namespace sluice::postgres
