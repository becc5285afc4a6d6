#include "core/protocol/isolation.h"

#include <algorithm>
#include <utility>

namespace sluice {

void Isolation::start(Positions reached) {
  until_ = std::move(reached);
  mode_ = mode_ == WriteMode::streaming ? WriteMode::isolating : WriteMode::strict;
  found_ = false;
}

void Isolation::committed(const Positions& ledger) {
  if (!on()) return;
  const bool passed = std::all_of(until_.begin(), until_.end(), [&](const auto& entry) {
    const auto now = ledger.find(entry.first);
    return now == ledger.end() || now->second >= entry.second;  // a split that left is not ours to look at
  });
  if (!passed) return;
  until_.clear();
  if (!std::exchange(found_, false)) mode_ = WriteMode::streaming;
}

}  // namespace sluice
