#include "core/runtime/group_writer.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "core/api/source.h"
#include "core/model/error.h"
#include "core/model/fault_point.h"
#include "core/protocol/decided.h"

namespace sluice {

namespace {

Generation sum(Generation a, Generation b) {
  return Generation{number(a) + number(b)};
}

// Whether a person has moved the split is a question of the sink where the group goes on.
void join(Known& group, const Known& member) {
  if (member.position <= group.position) {
    const bool same = member.position == group.position;
    group.moved_by_hand = member.moved_by_hand || (same && group.moved_by_hand);
    group.position = member.position;
  }
  group.generation = sum(group.generation, member.generation);
  group.epoch = std::max(group.epoch, member.epoch);
  group.topic_ids.insert(member.topic_ids.begin(), member.topic_ids.end());
}

}  // namespace

GroupWriter::GroupWriter(std::vector<Member> members, std::vector<Claims>& claims,
                         std::function<std::vector<std::size_t>(const std::string& topic)> widths_of,
                         CheckpointStore* store, std::size_t task, Log log)
    : members_(std::move(members)),
      claims_(claims),
      widths_of_(std::move(widths_of)),
      store_(store),
      task_(task),
      log_(std::move(log)) {}

bool GroupWriter::Member::has(const Split& split, std::int64_t offset) const {
  const auto position = ahead.find(split);
  return position != ahead.end() && offset < position->second;
}

std::vector<Split> GroupWriter::taken_by(std::size_t member, const std::vector<Split>& splits) const {
  std::vector<Split> taken;
  for (const Split& split : splits) {
    if (members_[member].about->takes(split.topic)) taken.push_back(split);
  }
  return taken;
}

// A split that one of its sinks does not know is not whole: that sink begins where the job says. But where nothing was
// committed yet, it was the first take-over that did not come to all of them: where the others begin is decided.
std::map<Split, Known> GroupWriter::known(const std::vector<Split>& splits) {
  std::map<Split, Known> all;
  std::set<Split> unknown_to_some;
  for (std::size_t i = 0; i < members_.size(); ++i) {
    const auto taken = taken_by(i, splits);
    if (taken.empty()) continue;
    const auto of_member = members_[i].writer->known(taken);
    for (const Split& split : taken) {
      const auto found = of_member.find(split);
      if (found == of_member.end()) {
        unknown_to_some.insert(split);
        continue;
      }
      const auto [one, added] = all.emplace(split, found->second);
      if (added) continue;
      join(one->second, found->second);
    }
  }
  for (auto& [split, known] : all) {
    if (unknown_to_some.contains(split)) known.whole = number(known.epoch) == 0 && !known.moved_by_hand;
  }
  return all;
}

// What the checkpoints have decided is committed, and the rest of what this job has left is rolled back, before any
// position is read.
void GroupWriter::settle(const std::vector<Split>& splits) {
  for (std::size_t i = 0; i < members_.size(); ++i) {
    const std::string& sink = members_[i].about->name;
    const auto missing = members_[i].two_phase->settle(decided_in(*store_, sink), taken_by(i, splits));
    if (missing.empty()) continue;
    // A sibling may have committed it and the next one meanwhile, whose proof takes the place of its own.
    const auto still_decided = decided_in(*store_, sink);
    for (const std::string& transaction : missing) {
      if (!still_decided.contains(transaction)) continue;
      log_(LogLevel::warning,
           "a transaction that a checkpoint had decided was rolled back by somebody; its records are read and written "
           "again",
           {{"sink", sink}, {"transaction", transaction}});
    }
  }
}

Claims GroupWriter::take_over(const Positions& starts, const Claims& held, const TopicIds& topics) {
  std::vector<Split> splits;
  for (const auto& [split, start] : starts) splits.push_back(split);
  if (store_ != nullptr) settle(splits);
  Claims all;
  for (std::size_t i = 0; i < members_.size(); ++i) {
    Positions own_starts;
    Claims own_held;
    for (const Split& split : taken_by(i, splits)) {
      own_starts.emplace(split, starts.at(split));
      const auto before = claims_[i].find(split);
      if (held.contains(split) && before != claims_[i].end()) own_held.insert(*before);
    }
    for (const auto& [split, claim] : members_[i].writer->take_over(own_starts, own_held, topics)) {
      claims_[i].insert_or_assign(split, claim);
      const auto [found, added] = all.emplace(split, claim);
      if (added) continue;
      found->second.position = std::min(found->second.position, claim.position);
      found->second.generation = sum(found->second.generation, claim.generation);
      found->second.epoch = std::max(found->second.epoch, claim.epoch);
    }
  }
  for (std::size_t i = 0; i < members_.size(); ++i) {
    for (const Split& split : taken_by(i, splits)) {
      members_[i].ahead.erase(split);
      const std::int64_t position = claims_[i].at(split).position;
      if (position > all.at(split).position) members_[i].ahead.emplace(split, position);
    }
  }
  for (const Split& split : splits) {
    if (all.contains(split)) continue;
    throw Error(Fault::fatal, "topic " + split.topic +
                                  " goes to no sink of this job: name it in the \"topics\" of one, or take it out of "
                                  "the source");
  }
  return all;
}

void GroupWriter::write(const std::string& topic, const Batch& batch, WriteMode mode, std::vector<Reject>& rejects) {
  auto found = widths_.find(topic);
  if (found == widths_.end()) found = widths_.emplace(topic, widths_of_(topic)).first;
  std::size_t first = 0;
  for (std::size_t i = 0; i < members_.size(); ++i) {
    const std::size_t cells = found->second[i];
    const std::size_t before = rejects.size();
    if (members_[i].about->takes(topic)) write_to(i, topic, batch, first, cells, mode, rejects);
    if (members_.size() > 1) {
      std::for_each(rejects.begin() + static_cast<std::ptrdiff_t>(before), rejects.end(),
                    [&](Reject& reject) { reject.sink = members_[i].about->name; });
    }
    first += cells;
  }
}

void GroupWriter::write_to(std::size_t member, const std::string& topic, const Batch& batch, std::size_t first_cell,
                           std::size_t cells, WriteMode mode, std::vector<Reject>& rejects) {
  const Member& to = members_[member];
  SinkWriter& writer = *to.writer;
  if (to.ahead.empty() && cells == batch.columns()) return writer.write(topic, batch, mode, rejects);
  Batch own(cells);
  for (std::size_t row = 0; row < batch.rows(); ++row) {
    const Origin origin = batch.origin(row);
    if (to.has(names_->split(origin.split), origin.offset)) continue;
    const auto all = batch.row(row).subspan(first_cell, cells);
    std::copy(all.begin(), all.end(), own.append(batch.kind(row), origin).begin());
  }
  if (!own.empty()) writer.write(topic, own, mode, rejects);
}

void GroupWriter::set_aside(std::span<const DeadLetter> letters) {
  if (members_.size() == 1) return members_.front().writer->set_aside(letters);
  for (std::size_t i = 0; i < members_.size(); ++i) {
    std::vector<DeadLetter> own;
    std::copy_if(letters.begin(), letters.end(), std::back_inserter(own),
                 [&](const DeadLetter& letter) { return concerns(i, letter); });
    if (!own.empty()) members_[i].writer->set_aside(own);
  }
}

bool GroupWriter::concerns(std::size_t member, const DeadLetter& letter) const {
  const Member& to = members_[member];
  if (!to.about->takes(letter.split.topic) || to.has(letter.split, letter.offset)) return false;
  return letter.sink.empty() || letter.sink == to.about->name;
}

void GroupWriter::flush() {
  for (const Member& member : members_) member.writer->flush();
}

Cut GroupWriter::cut_of(std::size_t member, const Cut& cut) const {
  Cut own;
  own.epoch = cut.epoch;
  for (const Move& move : cut.moves) {
    const auto claim = claims_[member].find(move.split);
    if (claim == claims_[member].end() || !members_[member].about->takes(move.split.topic)) continue;
    // Only a log that has lost its end moves a position back, or leaves it: the move is for every sink then, also after
    // a crash between two of them. An epoch always moves on.
    const bool back = move.to <= move.from;
    if (!back && move.to <= claim->second.position) continue;
    own.moves.push_back({move.split, claim->second.generation, claim->second.position, move.to});
  }
  return own;
}

void GroupWriter::moved(std::size_t member, const Cut& own) {
  for (const Move& move : own.moves) {
    Claim& claim = claims_[member].at(move.split);
    claim.position = move.to;
    claim.epoch = own.epoch;
    members_[member].ahead.erase(move.split);  // it is with the others now, also where a log made all of them go back
  }
}

void GroupWriter::commit(const Cut& cut) {
  store_ == nullptr ? commit_one_by_one(cut) : commit_together(cut);
}

void GroupWriter::commit_one_by_one(const Cut& cut) {
  for (std::size_t i = 0; i < members_.size(); ++i) {
    const Cut own = cut_of(i, cut);
    if (own.moves.empty()) continue;
    members_[i].writer->commit(own);
    moved(i, own);
    fault_point("group.between_commits");
  }
}

void GroupWriter::commit_together(const Cut& cut) {
  Checkpoint checkpoint;
  checkpoint.epoch = cut.epoch;
  for (const Move& move : cut.moves) checkpoint.positions.emplace(move.split, move.to);
  std::vector<std::pair<std::size_t, Cut>> prepared;
  for (std::size_t i = 0; i < members_.size(); ++i) {
    Cut own = cut_of(i, cut);
    if (own.moves.empty()) continue;
    checkpoint.committables.push_back({members_[i].about->name, members_[i].two_phase->precommit(own)});
    prepared.emplace_back(i, std::move(own));
  }
  const Decided decided = Decided::by(*store_, task_, std::move(checkpoint));
  for (std::size_t n = 0; n < prepared.size(); ++n) {
    const auto& [member, own] = prepared[n];
    members_[member].two_phase->commit_prepared(decided.committables()[n].transaction);
    moved(member, own);
    fault_point("group.between_commits");
  }
}

void GroupWriter::abort() noexcept {
  for (const Member& member : members_) member.writer->abort();
}

void GroupWriter::release(const Claims& claims) {
  for (std::size_t i = 0; i < members_.size(); ++i) {
    Claims own;
    for (const auto& [split, claim] : claims) {
      if (const auto found = claims_[i].find(split); found != claims_[i].end()) own.insert(*found);
    }
    if (!own.empty()) members_[i].writer->release(own);
  }
}

}  // namespace sluice
