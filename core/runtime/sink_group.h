// Several sinks of one job as one, each with a ledger of its own. With a checkpoint store they also show every epoch
// together: all prepare, the checkpoint decides, all commit. One sink with a store is a group of one.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "core/api/checkpoint.h"
#include "core/api/log.h"
#include "core/api/two_phase.h"

namespace sluice {

struct GroupMember {
  std::string name;
  Sink* sink = nullptr;               // borrowed
  std::vector<std::string> topics;    // that go there; empty: all
  TwoPhaseSink* two_phase = nullptr;  // the same one, where a store decides

  bool takes(const std::string& topic) const;
};

class SinkGroup final : public Sink {
 public:
  // `store` is borrowed; nullptr: every sink commits by itself, one behind the other.
  SinkGroup(std::vector<GroupMember> members, CheckpointStore* store, Log log);
  ~SinkGroup() override;

  void prepare(bool migrate) override;
  // The cells of each sink that takes the topic, one sink's behind the other's.
  RowShape bind(const std::string& topic, const std::function<std::vector<Field>()>& infer) override;
  std::unique_ptr<SinkWriter> open_writer(std::size_t task) override;
  // Of each split the smallest.
  Positions positions() override;

 private:
  std::vector<GroupMember> members_;
  CheckpointStore* store_;
  Log log_;
  Generation generation_{};  // of this process, in the store
  bool raised_ = false;
  std::mutex mutex_;                                        // guards what follows
  std::map<std::string, std::vector<std::size_t>> widths_;  // by topic: cells of each member
  std::map<std::size_t, std::vector<Claims>> claims_;       // by task: of each member, as this process knows them
};

}  // namespace sluice
