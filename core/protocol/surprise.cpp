#include "core/protocol/surprise.h"

#include <algorithm>
#include <optional>

namespace sluice {

namespace {

std::string range(std::int64_t from, std::int64_t to) {
  return "offsets " + std::to_string(from) + " to " + std::to_string(to - 1);
}

// Of a group, one sink that was not moved to the new topic is enough.
std::optional<Surprise> look_at_topic(const Split& split, const Known& known, const TakeOverFacts& facts) {
  const auto topic = facts.topics.find(split.topic);
  if (topic == facts.topics.end()) return std::nullopt;
  const auto former = std::find_if(known.topic_ids.begin(), known.topic_ids.end(),
                                   [&](const std::string& id) { return id != topic->second; });
  if (former == known.topic_ids.end()) return std::nullopt;
  const bool one_of_several = known.topic_ids.size() > 1 || known.moved_by_hand || !known.whole;
  return Surprise{Surprise::Kind::topic_recreated, split,
                  "topic " + split.topic + " was deleted and created again (its id was " + *former + " and is " +
                      topic->second + "): the ledger's position " +
                      (one_of_several ? "in one of the sinks" : std::to_string(known.position)) + " of " +
                      to_string(split) + " belongs to the former one"};
}

std::optional<Surprise> look_at_known(const Split& split, const Known& known, const TakeOverFacts& facts) {
  const std::string says = "the ledger is at " + to_string(split, known.position);
  if (const auto mine = facts.held.find(split); mine != facts.held.end()) {
    const Claim& claim = mine->second;
    const bool older = known.generation < claim.generation ||
                       (known.generation == claim.generation && known.position < claim.position);
    if (!older) return std::nullopt;
    return Surprise{Surprise::Kind::ledger_went_back, split,
                    says + " in generation " + std::to_string(number(known.generation)) + ", but this process has " +
                        "committed up to " + std::to_string(claim.position) + " in generation " +
                        std::to_string(number(claim.generation)) + " there: the database is an older copy of itself (" +
                        range(known.position, std::max(claim.position, known.position + 1)) + ")"};
  }
  const auto told = facts.group.find(split);
  if (known.moved_by_hand || told == facts.group.end() || told->second <= known.position) return std::nullopt;
  return Surprise{Surprise::Kind::ledger_went_back, split,
                  says + ", but the consumer group has been told " + std::to_string(told->second) +
                      ": the database is an older copy of itself, or somebody moved the group's offsets, which do not "
                      "move this job (" +
                      range(known.position, told->second) + ")"};
}

std::optional<Surprise> look_at_unknown(const Split& split, const TakeOverFacts& facts) {
  if (const auto mine = facts.held.find(split); mine != facts.held.end()) {
    return Surprise{Surprise::Kind::ledger_lost, split,
                    "the ledger's row of " + to_string(split) + " is gone, where this process has committed up to " +
                        std::to_string(mine->second.position)};
  }
  const auto told = facts.group.find(split);
  const auto start = facts.starts.find(split);
  if (told == facts.group.end() || start == facts.starts.end() || told->second == start->second) return std::nullopt;
  const bool again = start->second < told->second;
  return Surprise{Surprise::Kind::ledger_lost, split,
                  "the ledger does not know " + to_string(split) + ", but the consumer group has been told " +
                      std::to_string(told->second) +
                      ": the recovery tables were lost, or the job writes to another "
                      "database or sink than before. By its start mode it would begin at " +
                      std::to_string(start->second) + (again ? " and write " : " and miss ") +
                      range(std::min(start->second, told->second), std::max(start->second, told->second)) +
                      (again ? " again" : "")};
}

}  // namespace

Positions TakeOverFacts::known() const {
  Positions positions;
  for (const auto& [split, entry] : ledger) {
    if (entry.whole) positions.emplace(split, entry.position);
  }
  return positions;
}

std::vector<Surprise> surprises(const std::vector<Split>& splits, const TakeOverFacts& facts) {
  std::vector<Surprise> found;
  for (const Split& split : splits) {
    const auto known = facts.ledger.find(split);
    const bool has_entry = known != facts.ledger.end();
    auto one = has_entry ? look_at_topic(split, known->second, facts) : std::nullopt;
    if (!one) {
      one =
          has_entry && known->second.whole ? look_at_known(split, known->second, facts) : look_at_unknown(split, facts);
    }
    if (one) found.push_back(*std::move(one));
  }
  return found;
}

std::string next_step(const std::vector<Surprise>& found) {
  const auto has = [&](Surprise::Kind kind) {
    return std::any_of(found.begin(), found.end(), [&](const Surprise& one) { return one.kind == kind; });
  };
  std::string step = "Nothing was read or written. Look at the table and decide: `sluice offsets` moves the positions";
  if (has(Surprise::Kind::topic_recreated)) step += " (--reset earliest loads the new topic from its beginning)";
  step += "; \"on.lost.records\": \"skip\" in the source ";
  step += has(Surprise::Kind::topic_recreated) ? "begins the new topic from its first record"
          : has(Surprise::Kind::ledger_lost)   ? "begins as the start mode says"
                                               : "goes on from what the ledger says";
  return step;
}

}  // namespace sluice
