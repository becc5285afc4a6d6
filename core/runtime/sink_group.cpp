#include "core/runtime/sink_group.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "core/model/error.h"
#include "core/runtime/group_writer.h"

namespace sluice {

bool GroupMember::takes(const std::string& topic) const {
  return topics.empty() || std::find(topics.begin(), topics.end(), topic) != topics.end();
}

SinkGroup::SinkGroup(std::vector<GroupMember> members, CheckpointStore* store, Log log)
    : members_(std::move(members)), store_(store), log_(std::move(log)) {}

SinkGroup::~SinkGroup() = default;

void SinkGroup::prepare(bool migrate) {
  for (const GroupMember& member : members_) {
    if (store_ != nullptr) member.two_phase->require_two_phase();
    member.sink->prepare(migrate);
  }
  // Before any ledger is touched: from now on no older process can decide anything.
  if (store_ == nullptr || raised_) return;
  generation_ = store_->raise();
  raised_ = true;
}

RowShape SinkGroup::bind(const std::string& topic, const std::function<std::vector<Field>()>& infer) {
  std::optional<std::vector<Field>> sample;
  const auto infer_once = [&] {
    if (!sample) sample = infer();
    return *sample;
  };
  RowShape all;
  std::vector<std::size_t> widths;
  for (const GroupMember& member : members_) {
    const RowShape shape = member.takes(topic) ? member.sink->bind(topic, infer_once) : RowShape{};
    widths.push_back(shape.cells.size());
    all.erases = all.erases || shape.erases;
    all.cells.insert(all.cells.end(), shape.cells.begin(), shape.cells.end());
  }
  const std::scoped_lock lock(mutex_);
  widths_[topic] = std::move(widths);
  return all;
}

std::unique_ptr<SinkWriter> SinkGroup::open_writer(std::size_t task) {
  std::vector<GroupWriter::Member> members;
  for (const GroupMember& member : members_) {
    GroupWriter::Member one;
    one.about = &member;
    if (store_ != nullptr) {
      auto writer = member.two_phase->open_two_phase_writer(task, generation_);
      one.two_phase = writer.get();
      one.writer = std::move(writer);
    } else {
      one.writer = member.sink->open_writer(task);
    }
    members.push_back(std::move(one));
  }
  const auto widths_of = [this](const std::string& topic) {
    const std::scoped_lock lock(mutex_);
    return widths_.at(topic);
  };
  const std::scoped_lock lock(mutex_);
  std::vector<Claims>& claims = claims_[task];
  claims.resize(members_.size());
  return std::make_unique<GroupWriter>(std::move(members), claims, widths_of, store_, task, log_);
}

Positions SinkGroup::positions() {
  Positions all;
  std::vector<Positions> each;
  for (const GroupMember& member : members_) {
    for (const auto& [split, position] : each.emplace_back(member.sink->positions())) {
      if (!member.takes(split.topic)) continue;
      const auto [found, added] = all.emplace(split, position);
      if (!added) found->second = std::min(found->second, position);
    }
  }
  // What one of its sinks does not know has come to no position yet.
  for (std::size_t i = 0; i < members_.size(); ++i) {
    std::erase_if(
        all, [&](const auto& entry) { return members_[i].takes(entry.first.topic) && !each[i].contains(entry.first); });
  }
  return all;
}

}  // namespace sluice
