#include "core/protocol/isolation.h"

#include <algorithm>
#include <utility>

namespace sluice {

void Isolation::start(Positions reached) {
  until_ = std::move(reached);
  on_ = true;
  found_ = false;
}

void Isolation::committed(const Positions& ledger) {
  if (!on_) return;
  const bool passed = std::all_of(until_.begin(), until_.end(), [&](const auto& entry) {
    const auto now = ledger.find(entry.first);
    return now == ledger.end() || now->second >= entry.second;  // a split that left is not ours to look at
  });
  if (!passed) return;
  until_.clear();
  on_ = std::exchange(found_, false);
}

}  // namespace sluice
