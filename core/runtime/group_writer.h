// One task's writers into the sinks of a group. Internal to the runtime.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/api/checkpoint.h"
#include "core/api/log.h"
#include "core/api/two_phase.h"
#include "core/runtime/sink_group.h"

namespace sluice {

// A split's claim, as the task sees it, has the smallest position of its sinks and the sum of their generations. A sink
// that is ahead skips by offset.
class GroupWriter final : public SinkWriter {
 public:
  struct Member {
    const GroupMember* about = nullptr;
    std::unique_ptr<SinkWriter> writer;
    TwoPhaseWriter* two_phase = nullptr;  // the same; nullptr: it commits by itself
    Positions ahead = {};                 // where it was when it was taken over, if that is not where the group begins

    // Whether that record is behind it already.
    bool has(const Split& split, std::int64_t offset) const;
  };

  // `claims` of each member are borrowed and outlive the writer: what this process knows of its last claims.
  GroupWriter(std::vector<Member> members, std::vector<Claims>& claims,
              std::function<std::vector<std::size_t>(const std::string& topic)> widths_of, CheckpointStore* store,
              std::size_t task, Log log);

  void name_splits(const SplitNames& names) override { names_ = &names; }
  std::map<Split, Known> known(const std::vector<Split>& splits) override;
  Claims take_over(const Positions& starts, const Claims& held, const TopicIds& topics) override;
  void write(const std::string& topic, const Batch& batch, WriteMode mode, std::vector<Reject>& rejects) override;
  void set_aside(std::span<const DeadLetter> letters) override;
  void flush() override;
  void commit(const Cut& cut) override;
  void abort() noexcept override;
  void release(const Claims& claims) override;

 private:
  std::vector<Split> taken_by(std::size_t member, const std::vector<Split>& splits) const;
  void settle(const std::vector<Split>& splits);
  void write_to(std::size_t member, const std::string& topic, const Batch& batch, std::size_t first_cell,
                std::size_t cells, WriteMode mode, std::vector<Reject>& rejects);
  bool concerns(std::size_t member, const DeadLetter& letter) const;
  Cut cut_of(std::size_t member, const Cut& cut) const;
  void moved(std::size_t member, const Cut& own);
  void commit_one_by_one(const Cut& cut);
  void commit_together(const Cut& cut);

  std::vector<Member> members_;
  std::vector<Claims>& claims_;
  std::function<std::vector<std::size_t>(const std::string&)> widths_of_;
  CheckpointStore* store_;
  std::size_t task_;
  Log log_;
  const SplitNames* names_ = nullptr;
  std::map<std::string, std::vector<std::size_t>> widths_;
};

}  // namespace sluice
