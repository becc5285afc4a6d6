// Rows rendered to text and held until there are enough for one statement. Rows with the same key are folded: a
// statement must not touch a key twice, and the last one wins.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/batch.h"
#include "sinks/sql/cell_text.h"
#include "sinks/sql/table.h"

namespace sluice::sql {

class RowBuffer {
 public:
  // `plan` is borrowed.
  RowBuffer(const LoadPlan& plan, CellRules rules) : plan_(plan), rules_(rules) {}

  // Throws BadRecord when a value does not fit its column.
  void add(const Batch& batch, std::size_t row);
  void clear();

  std::size_t rows() const { return rows_; }  // without the folded ones
  std::size_t bytes() const { return text_.size(); }
  bool empty() const { return rows_ == 0; }

  // Calls visit(form, text) for every row's cell of this column, in the order of arrival.
  template <class Visit>
  void each(std::size_t column, Visit visit) const {
    const std::size_t columns = plan_.columns.size();
    for (std::size_t row = 0; row < superseded_.size(); ++row) {
      if (superseded_[row]) continue;
      const Cell& cell = cells_[row * columns + column];
      visit(cell.form, std::string_view(text_).substr(cell.start, cell.size));
    }
  }

 private:
  struct Cell {
    std::uint32_t start = 0;
    std::uint32_t size = 0;
    CellForm form = CellForm::null;
  };

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
};

}  // namespace sluice::sql
