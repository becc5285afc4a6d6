// Rows rendered to text and held until there are enough for one statement: rows to write, or rows to erase, of which
// only the key counts. Rows with the same key are folded: a statement must not touch a key twice, and the last one
// wins.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/batch.h"
#include "core/model/reject.h"
#include "sinks/sql/cell_text.h"
#include "sinks/sql/table.h"

namespace sluice::sql {

class RowBuffer {
 public:
  // `plan` is borrowed.
  RowBuffer(const LoadPlan& plan, CellRules rules) : plan_(plan), rules_(rules) {}

  // A row with a value that does not fit its column is left out and appended to `rejects`.
  void add(const Batch& batch, std::size_t row, std::vector<Reject>& rejects);
  void clear();

  std::size_t rows() const { return rows_; }  // without the folded ones
  std::size_t bytes() const { return text_.size(); }
  bool empty() const { return rows_ == 0; }
  // Whether the row may join those that are there: rows to erase stay among themselves, since a database may take two
  // keys for one that are not written alike, and their order would be lost.
  bool takes(RowKind kind) const { return empty() || erases_ == (kind == RowKind::erase); }
  bool erases() const { return erases_; }

  // In the order of arrival, without the folded ones.
  std::vector<std::size_t> live_rows() const;
  // Valid until the next add() or clear().
  CellText cell(std::size_t row, std::size_t column) const {
    const Cell& found = cells_[row * plan_.columns.size() + column];
    return {found.form, std::string_view(text_).substr(found.start, found.size)};
  }

 private:
  struct Cell {
    std::uint32_t start = 0;
    std::uint32_t size = 0;
    CellForm form = CellForm::null;
  };

  bool is_key(std::size_t column) const;
  bool has_whole_key(std::size_t row) const;
  void fold(std::size_t row);
  std::string_view key_of(std::size_t row, std::string& scratch) const;
  void grow_index();

  const LoadPlan& plan_;
  CellRules rules_;
  CellBuffer buffer_;
  std::string text_;
  std::vector<Cell> cells_;
  std::vector<bool> superseded_;
  std::vector<std::uint32_t> index_;  // open addressing: row + 1, 0 is free
  std::string key_;
  std::string other_key_;
  std::size_t rows_ = 0;
  bool erases_ = false;
};

}  // namespace sluice::sql
