// A bounded run of decoded rows, row-major in one flat vector: no allocation per row once the batch is warm.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "core/model/ids.h"
#include "core/model/value.h"

namespace sluice {

// Bump allocator for the bytes that cells point into. Not thread-safe.
class Arena {
 public:
  // At least `size` writable bytes that stay where they are until clear().
  char* allocate(std::size_t size);
  std::string_view copy(std::string_view bytes);
  // Keeps the first chunk, so that a warm arena allocates nothing.
  void clear();
  std::size_t used() const { return used_; }

 private:
  struct Chunk {
    std::unique_ptr<char[]> data;
    std::size_t size = 0;
  };
  std::vector<Chunk> chunks_;
  std::size_t filled_ = 0;  // of the last chunk
  std::size_t used_ = 0;    // of all chunks
};

// What a row does to the table. The pairs -U, +U carry changelogs.
enum class RowKind : std::uint8_t { insert, update_before, update_after, erase };

class Batch {
 public:
  explicit Batch(std::size_t columns) : columns_(columns) {}

  std::size_t columns() const { return columns_; }
  std::size_t rows() const { return origins_.size(); }
  bool empty() const { return origins_.empty(); }

  // The new row's cells, all NULL. Valid until the next append.
  std::span<Value> append(RowKind kind, Origin origin);
  void drop_last();
  void clear();

  std::span<const Value> row(std::size_t index) const { return {cells_.data() + index * columns_, columns_}; }
  RowKind kind(std::size_t index) const { return kinds_[index]; }
  Origin origin(std::size_t index) const { return origins_[index]; }
  Arena& arena() { return arena_; }

 private:
  std::size_t columns_;
  std::vector<Value> cells_;
  std::vector<RowKind> kinds_;
  std::vector<Origin> origins_;
  Arena arena_;
};

}  // namespace sluice
