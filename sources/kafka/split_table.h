// Every split that a reader has ever met, and where each of them stands.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "core/model/ids.h"

namespace sluice::kafka {

struct SplitState {
  Split name;
  SplitIndex index = 0;
  std::int64_t next = 0;  // the expected offset: records below it were delivered before
  bool owned = false;     // from Assigned to release()
  bool assigned = false;  // librdkafka fetches it: from start() to pause() or release()
  bool reading = false;   // its records are let through: as long, but not while a start waits for a revocation's end
  bool at_end = false;    // its end was seen, and no record since
};

class SplitTable {
 public:
  // Finds the split or adds it. References stay valid as long as the table.
  SplitState& add(const Split& name) {
    auto& partitions = by_topic_[name.topic];
    if (const auto found = partitions.find(name.partition); found != partitions.end()) return *found->second;
    SplitState& state = states_.emplace_back();
    state.name = name;
    state.index = static_cast<SplitIndex>(states_.size() - 1);
    partitions.emplace(name.partition, &state);
    return state;
  }

  SplitState* find(std::string_view topic, std::int32_t partition) {
    const auto partitions = by_topic_.find(topic);
    if (partitions == by_topic_.end()) return nullptr;
    const auto found = partitions->second.find(partition);
    return found == partitions->second.end() ? nullptr : found->second;
  }

  const SplitState& at(SplitIndex index) const { return states_.at(index); }
  SplitState& at(SplitIndex index) { return states_.at(index); }

  auto begin() { return states_.begin(); }
  auto end() { return states_.end(); }
  auto begin() const { return states_.begin(); }
  auto end() const { return states_.end(); }

 private:
  std::deque<SplitState> states_;  // by index
  std::map<std::string, std::map<std::int32_t, SplitState*>, std::less<>> by_topic_;
};

}  // namespace sluice::kafka
