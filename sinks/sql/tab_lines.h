// Lines of tab-separated cells: the text format of PostgreSQL's COPY, which LOAD DATA of MySQL and MariaDB reads, too.
// https://www.postgresql.org/docs/current/sql-copy.html, "Text Format";
// https://dev.mysql.com/doc/refman/9.7/en/load-data.html, "Field and Line Handling"
#pragma once

#include <cstddef>
#include <cstring>
#include <string>
#include <string_view>

#include "sinks/sql/cell_text.h"

namespace sluice::sql {

// How much text goes to a client library at once.
constexpr std::size_t tab_lines_per_send = std::size_t{32} * 1024;

// Made in place. A line may be of no bytes: one empty text. Bytes travel as hexadecimal digits.
class TabLines {
 public:
  // `before_hex` stands in front of the digits.
  TabLines(std::size_t room, std::string_view before_hex) : text_(room, '\0'), before_hex_(before_hex) {}

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
  void append_field(const CellText& cell) {
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
  void append_cell(const CellText& cell);
  void append(std::string_view text) {
    std::memcpy(room(text.size()), text.data(), text.size());
    size_ += text.size();
  }

  std::string text_;  // as long as its room
  std::size_t size_ = 0;
  std::size_t line_start_ = 0;  // of the last line
  std::size_t lines_ = 0;
  std::size_t fields_ = 0;  // of the last line
  std::string_view before_hex_;
  std::string escaped_;
};

}  // namespace sluice::sql
