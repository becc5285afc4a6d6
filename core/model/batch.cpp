#include "core/model/batch.h"

#include <algorithm>
#include <cstring>

namespace sluice {

namespace {
constexpr std::size_t chunk_bytes_min = std::size_t{256} * 1024;
}

char* Arena::allocate(std::size_t size) {
  if (chunks_.empty() || chunks_.back().size - filled_ < size) {
    const std::size_t chunk_size = std::max(size, chunk_bytes_min);
    chunks_.push_back({std::make_unique_for_overwrite<char[]>(chunk_size), chunk_size});
    filled_ = 0;
  }
  char* const start = chunks_.back().data.get() + filled_;
  filled_ += size;
  used_ += size;
  return start;
}

std::string_view Arena::copy(std::string_view bytes) {
  if (bytes.empty()) return {};
  char* const start = allocate(bytes.size());
  std::memcpy(start, bytes.data(), bytes.size());
  return {start, bytes.size()};
}

void Arena::clear() {
  if (chunks_.size() > 1) chunks_.resize(1);
  // A chunk that one huge record made is not kept: memory must not follow the largest record ever seen.
  if (!chunks_.empty() && chunks_.front().size > 16 * chunk_bytes_min) chunks_.clear();
  filled_ = 0;
  used_ = 0;
}

std::span<Value> Batch::append(RowKind kind, Origin origin) {
  const std::size_t start = cells_.size();
  cells_.resize(start + columns_);
  kinds_.push_back(kind);
  origins_.push_back(origin);
  return {cells_.data() + start, columns_};
}

void Batch::drop_last() {
  cells_.resize(cells_.size() - columns_);
  kinds_.pop_back();
  origins_.pop_back();
}

void Batch::clear() {
  cells_.clear();
  kinds_.clear();
  origins_.clear();
  arena_.clear();
}

}  // namespace sluice
