// The order of a two-phase commit, as types: what a checkpoint has decided can be had only by publishing it, and a
// checkpoint holds what all sinks have prepared.
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/api/checkpoint.h"
#include "core/model/fault_point.h"

namespace sluice {

// The transactions of a sink that the newest checkpoints hold.
inline std::set<std::string> decided_in(const CheckpointStore& store, const std::string& sink) {
  std::set<std::string> transactions;
  for (const auto& [task, checkpoint] : store.newest()) {
    for (const Committable& one : checkpoint.committables) {
      if (one.sink == sink) transactions.insert(one.transaction);
    }
  }
  return transactions;
}

class Decided {
 public:
  // Durable on return.
  static Decided by(CheckpointStore& store, std::size_t task, Checkpoint checkpoint) {
    fault_point("store.before_publish");
    store.publish(task, checkpoint);
    fault_point("store.after_publish");
    return Decided(std::move(checkpoint.committables));
  }

  const std::vector<Committable>& committables() const { return committables_; }

 private:
  explicit Decided(std::vector<Committable> committables) : committables_(std::move(committables)) {}
  std::vector<Committable> committables_;
};

}  // namespace sluice
