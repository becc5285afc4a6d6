#include "sinks/sql/row_buffer.h"

#include <algorithm>
#include <functional>

namespace sluice::sql {

namespace {
constexpr std::size_t index_size_min = 1024;  // a power of two
}

void RowBuffer::add(const Batch& batch, std::size_t row, std::vector<Reject>& rejects) {
  const auto values = batch.row(row);
  const auto refuse = [&](std::size_t column, const char* reason) {
    cells_.resize(superseded_.size() * plan_.columns.size());
    rejects.push_back({batch.origin(row), plan_.columns[column].name, reason});
  };
  erases_ = batch.kind(row) == RowKind::erase;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (erases_ && !is_key(i)) {
      cells_.push_back({static_cast<std::uint32_t>(text_.size()), 0, CellForm::null});
      continue;
    }
    const CellText cell = cell_text(values[i], plan_.columns[i], buffer_, rules_);
    if (cell.form == CellForm::refused) return refuse(i, cell.reason);
    if (erases_ && cell.form == CellForm::null) return refuse(i, no_key_to_erase);
    cells_.push_back(
        {static_cast<std::uint32_t>(text_.size()), static_cast<std::uint32_t>(cell.text.size()), cell.form});
    text_ += cell.text;
  }
  superseded_.push_back(false);
  ++rows_;
  if (plan_.mode == InsertMode::upsert) fold(superseded_.size() - 1);
}

bool RowBuffer::is_key(std::size_t column) const {
  return std::find(plan_.key.begin(), plan_.key.end(), column) != plan_.key.end();
}

std::vector<std::size_t> RowBuffer::live_rows() const {
  std::vector<std::size_t> rows;
  rows.reserve(rows_);
  for (std::size_t row = 0; row < superseded_.size(); ++row) {
    if (!superseded_[row]) rows.push_back(row);
  }
  return rows;
}

void RowBuffer::clear() {
  text_.clear();
  cells_.clear();
  superseded_.clear();
  std::fill(index_.begin(), index_.end(), 0);
  rows_ = 0;
}

// Cells of a key behind each other, each with its length, so that ("a", "bc") is not ("ab", "c").
std::string_view RowBuffer::key_of(std::size_t row, std::string& scratch) const {
  scratch.clear();
  for (const std::size_t column : plan_.key) {
    const Cell& cell = cells_[row * plan_.columns.size() + column];
    scratch.append(std::to_string(cell.size)).push_back(cell.form == CellForm::null ? '-' : ':');
    scratch.append(text_, cell.start, cell.size);
  }
  return scratch;
}

// A key with NULL in it equals no other: each such row is a row of its own.
bool RowBuffer::has_whole_key(std::size_t row) const {
  return std::none_of(plan_.key.begin(), plan_.key.end(), [&](const std::size_t column) {
    return cells_[row * plan_.columns.size() + column].form == CellForm::null;
  });
}

void RowBuffer::fold(std::size_t row) {
  if (!has_whole_key(row)) return;
  if (index_.size() < 2 * superseded_.size()) grow_index();
  const std::string_view key = key_of(row, key_);
  const std::size_t mask = index_.size() - 1;
  for (std::size_t slot = std::hash<std::string_view>{}(key)&mask;; slot = (slot + 1) & mask) {
    if (index_[slot] == 0) {
      index_[slot] = static_cast<std::uint32_t>(row + 1);
      return;
    }
    const std::size_t other = index_[slot] - 1;
    if (key_of(other, other_key_) != key) continue;
    superseded_[other] = true;
    index_[slot] = static_cast<std::uint32_t>(row + 1);
    --rows_;
    return;
  }
}

void RowBuffer::grow_index() {
  index_.assign(std::max(index_size_min, index_.size() * 2), 0);
  const std::size_t mask = index_.size() - 1;
  for (std::size_t row = 0; row + 1 < superseded_.size(); ++row) {
    if (superseded_[row] || !has_whole_key(row)) continue;
    std::size_t slot = std::hash<std::string_view>{}(key_of(row, other_key_)) & mask;
    while (index_[slot] != 0) slot = (slot + 1) & mask;
    index_[slot] = static_cast<std::uint32_t>(row + 1);
  }
}

}  // namespace sluice::sql
