// The part of a task that takes splits over and hands them back.
#include <algorithm>
#include <exception>
#include <iterator>
#include <string>
#include <utility>

#include "core/model/fault_point.h"
#include "core/runtime/task.h"

namespace sluice {

namespace {

std::string lost_text(const Split& split, const Lost& lost) {
  const auto range = [](std::int64_t from, std::int64_t to) {
    return "offsets " + std::to_string(from) + " to " + std::to_string(to - 1);
  };
  return "position " + to_string(split, lost.position) + " is not in the log, which holds " +
         std::to_string(lost.begin) + " to " + std::to_string(lost.end) + ": " +
         (lost.position < lost.begin
              ? range(lost.position, lost.begin) + " were deleted before they were read, by retention or by hand"
              : "the topic has lost its end, " + range(lost.end, lost.position));
}

}  // namespace

void Task::handle(const Assigned& event) {
  assigned_.insert(event.splits.begin(), event.splits.end());
  fault_point("task.assigned");
  if (!writer_) return;  // taken over when the task resumes
  if (machine_.open()) commit_epoch();
  take_over_assigned();
}

// Takes over what the reader was assigned and this task does not own yet; after a failure, when it is not certain what
// the ledger says, everything.
void Task::take_over_assigned() {
  Claims held = machine_.claims();
  held.insert(held_before_.begin(), held_before_.end());
  std::vector<Split> wanted;
  for (const auto& split : assigned_) {
    if (reclaim_all_ || !held.contains(split)) wanted.push_back(split);
  }
  if (wanted.empty()) {
    // What its last epoch has left prepared would keep the next owner of those splits waiting.
    if (reclaim_all_) writer_->take_over({}, {}, {});
    reclaim_all_ = false;
    return;
  }
  TakeOverFacts facts = facts_about(wanted, held);
  // Without a ledger there is nothing that could have been lost.
  std::vector<Surprise> found;
  if (settings_.delivery == Delivery::exactly_once) found = surprises(wanted, facts);
  if (!found.empty()) face(found, facts);
  if (!still_assigned(facts)) {
    throw Error(Fault::retryable, "the group has dealt the partitions of this task out anew; nothing was taken over");
  }
  const Claims claims = take_over_at_starts(found, facts);
  held_before_.clear();
  reclaim_all_ = false;
  by_index_.clear();
  const Positions from = machine_.ledger_positions();
  Positions taken;
  for (const auto& [split, claim] : claims) {
    taken.emplace(split, from.at(split));
    if (!settings_.ends) continue;
    const auto end = settings_.ends->find(split);
    machine_.find(split)->bound(end == settings_.ends->end() ? 0 : end->second);
  }
  fault_point("task.before_seek");
  // Also where nothing is ever read: the position of the start is decided once.
  if (settings_.delivery != Delivery::exactly_once) reader_->commit_now(taken);
  reader_->start(taken);
  // A ledger that moved back by a person's will is not to be a surprise again.
  Positions ahead;
  for (const auto& [split, told] : facts.group) {
    if (const auto now = taken.find(split); now != taken.end() && now->second < told) ahead.insert(*now);
  }
  for (const Surprise& one : found) ahead.insert(*taken.find(one.split));
  if (!ahead.empty()) reader_->committed(ahead);
  report();
}

// Taking a split over stops whoever has it now: a process that slept must not do that to its heir.
bool Task::still_assigned(const TakeOverFacts& facts) {
  const Positions known = facts.known();
  return known.empty() || reader_->still_assigned(known);
}

// The position and the id of a topic that was created again cannot be written in one step, so the id comes last: a
// process that dies between leaves a position that is found out again.
Claims Task::take_over_at_starts(const std::vector<Surprise>& found, TakeOverFacts& facts) {
  Positions begins;
  TopicIds known_topics = facts.topics;
  for (const Surprise& one : found) {
    if (one.kind != Surprise::Kind::topic_recreated) continue;
    begins.emplace(one.split, facts.starts.at(one.split));
    known_topics.erase(one.split.topic);
  }
  std::swap(facts.topics, known_topics);
  Claims claims = take_over(facts);
  machine_.own(claims);
  if (begins.empty()) return claims;
  for (const auto& [split, begin] : begins) {
    if (begin > 0) move_to(split, 0);  // back, so that sinks which are ahead of others go along
    move_to(split, begin);
  }
  std::swap(facts.topics, known_topics);
  facts.held = claims;
  claims = take_over(facts);
  machine_.own(claims);
  return claims;
}

TakeOverFacts Task::facts_about(const std::vector<Split>& splits, const Claims& held) {
  TakeOverFacts facts;
  facts.held = held;
  if (settings_.delivery != Delivery::exactly_once) {
    // The source keeps the positions, but may not know of this task's last ones yet.
    facts.starts = reader_->start_positions(splits);
    // What a reader before this one held may have gone on elsewhere meanwhile: that does not count.
    const Claims own = machine_.claims();
    for (auto& [split, start] : facts.starts) {
      if (const auto claim = own.find(split); claim != own.end()) start = claim->second.position;
    }
    return facts;
  }
  // The group before the ledger: whoever still owns the splits commits first and tells the group then, so that what the
  // group knew is in a ledger that is read later. The other way round a stale ledger would look like one that was lost.
  std::vector<Split> new_here;
  for (const Split& split : splits) {
    if (!held.contains(split)) new_here.push_back(split);
  }
  if (!new_here.empty()) facts.group = reader_->group_positions(new_here);
  facts.ledger = writer_->known(splits);
  facts.topics = reader_->topic_ids(splits);
  const Positions known = facts.known();
  std::vector<Split> unknown;
  for (const Split& split : splits) {
    if (!known.contains(split)) unknown.push_back(split);
  }
  if (!unknown.empty()) facts.starts = reader_->start_positions(unknown);
  return facts;
}

// Ends the job, unless it was told to go on all the same.
void Task::face(const std::vector<Surprise>& found, TakeOverFacts& facts) {
  if (!settings_.accept_lost_records) {
    std::string text = found.front().text;
    if (found.size() > 1) text += ", and " + std::to_string(found.size() - 1) + " more like it";
    throw Error(Fault::fatal, text + ". " + next_step(found));
  }
  std::vector<Split> from_the_beginning;
  for (const Surprise& one : found) {
    parts_.log(LogLevel::warning, one.text + "; going on, as on.lost.records says", fields());
    // What this process has committed there is of no account any more.
    facts.held.erase(one.split);
    machine_.disown({one.split});
    if (one.kind == Surprise::Kind::topic_recreated) from_the_beginning.push_back(one.split);
  }
  if (from_the_beginning.empty()) return;
  const Positions begins = parts_.source.begin_positions();
  for (const Split& split : from_the_beginning) facts.starts[split] = begins.at(split);
}

Claims Task::take_over(const TakeOverFacts& facts) {
  Positions starts = facts.known();
  for (const auto& [split, start] : facts.starts) starts.emplace(split, start);
  try {
    // A generation that grew may be the work of this task's own last try, whose answer was lost.
    Claims claims = writer_->take_over(starts, take_over_in_doubt_ ? Claims{} : facts.held, facts.topics);
    take_over_in_doubt_ = false;
    return claims;
  } catch (const Error& error) {
    take_over_in_doubt_ = take_over_in_doubt_ || error.fault() == Fault::in_doubt;
    throw;
  }
}

// Moves the ledger without rows. No epoch is open.
void Task::move_to(const Split& split, std::int64_t position) {
  const Cut cut = machine_.rewind(split, position);
  writer_->commit(cut);
  machine_.committed(cut, parts_.clock.now());
}

void Task::handle(const Lost& event) {
  if (!writer_ || owned(event.split) == nullptr) return;  // started again when the task resumes
  const Split split = reader_->split(event.split);
  const bool behind = event.position < event.begin;
  if (machine_.open()) commit_epoch();
  if (!behind && is_another_topic(split)) {
    // All of the topic's splits are others now, also those whose position is in their new log.
    std::vector<Split> others;
    for (const auto& [owned_split, claim] : machine_.claims()) {
      if (owned_split.topic == split.topic) others.push_back(owned_split);
    }
    machine_.disown(others);
    by_index_.clear();
    return take_over_assigned();  // which says what that means
  }
  const std::int64_t to = behind ? event.begin : event.end;
  const auto text = lost_text(split, event);
  if (!settings_.accept_lost_records) {
    const std::string how = settings_.delivery == Delivery::exactly_once
                                ? "`sluice offsets --set " + split.topic + ":" + std::to_string(split.partition) + "=" +
                                      std::to_string(to) + "`"
                                : std::string("Kafka's own kafka-consumer-groups.sh --reset-offsets");
    throw Error(Fault::fatal, text + ". Nothing was skipped. To go on at " + std::to_string(to) + ": " + how +
                                  ", or \"on.lost.records\": \"skip\" in the source");
  }
  parts_.log(LogLevel::warning, text + "; going on at " + std::to_string(to) + ", as on.lost.records says", fields());
  move_to(split, to);
  reader_->start({{split, to}});
  reader_->committed({{split, to}});  // so that the group does not say more than the ledger
  report();
}

// No epoch is open.
bool Task::is_another_topic(const Split& split) {
  TakeOverFacts facts;
  facts.ledger = writer_->known({split});
  facts.topics = reader_->topic_ids({split});
  const auto found = surprises({split}, facts);
  return !found.empty() && found.front().kind == Surprise::Kind::topic_recreated;
}

// In order: their next owner goes on where they stand.
void Task::release(const Claims& claims) {
  if (settings_.delivery != Delivery::exactly_once) {
    Positions ends;
    for (const auto& [split, now] : machine_.claims()) {
      if (claims.contains(split)) ends.emplace(split, now.position);
    }
    if (!ends.empty()) reader_->commit_now(ends);
  }
  writer_->release(claims);
}

void Task::handle(const Revoked& event) {
  std::exception_ptr failed;
  Claims leaving;
  const Claims claims = machine_.claims();
  for (const auto& split : event.splits) {
    if (const auto claim = claims.find(split); claim != claims.end()) leaving.insert(*claim);
    assigned_.erase(split);
  }
  try {
    if (event.lost) {
      if (machine_.open()) throw Error(Fault::retryable, "the group gave partitions of this task to another member");
    } else if (writer_) {
      if (machine_.open()) commit_epoch();
      fault_point("task.before_release");
      if (!leaving.empty()) release(leaving);
    }
  } catch (const Error&) {
    // The splits must leave all the same, or the whole group waits. What the epoch held is read again by their next
    // owner.
    failed = std::current_exception();
    give_up_epoch();
  }
  machine_.disown(event.splits);
  by_index_.clear();
  reader_->release(event.splits);
  report();
  if (failed) std::rethrow_exception(failed);
}

}  // namespace sluice
