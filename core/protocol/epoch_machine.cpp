#include "core/protocol/epoch_machine.h"

#include <algorithm>

#include "core/model/error.h"

namespace sluice {

namespace {

// Asserted in production, too: a task that goes on after one of these would write records twice or not at all.
void require(bool holds, const char* rule) {
  if (!holds) throw Error(Fault::fatal, std::string("internal: the epoch protocol was broken: ") + rule);
}

}  // namespace

void EpochMachine::own(const Claims& claims) {
  require(state_ == State::idle, "splits were taken over while an epoch was open");
  for (const auto& [split, claim] : claims) {
    const auto found = owned_.find(split);
    OwnedSplit taken(claim);
    if (found != owned_.end()) {
      require(claim.generation > found->second.claim_.generation, "a take-over did not raise the generation");
      taken.bound(found->second.bound_);
      owned_.erase(found);
    }
    owned_.emplace(split, taken);
    last_epoch_ = std::max(last_epoch_, claim.epoch);
  }
}

void EpochMachine::disown(const std::vector<Split>& splits) {
  require(state_ == State::idle, "splits left while an epoch was open");
  for (const auto& split : splits) owned_.erase(split);
}

OwnedSplit* EpochMachine::find(const Split& split) {
  const auto found = owned_.find(split);
  return found == owned_.end() ? nullptr : &found->second;
}

Claims EpochMachine::claims() const {
  Claims claims;
  for (const auto& [split, owned] : owned_) claims.emplace(split, owned.claim_);
  return claims;
}

Positions EpochMachine::ledger_positions() const {
  Positions positions;
  for (const auto& [split, owned] : owned_) positions.emplace(split, owned.claim_.position);
  return positions;
}

Positions EpochMachine::reached() const {
  Positions positions;
  for (const auto& [split, owned] : owned_) positions.emplace(split, owned.next_);
  return positions;
}

void EpochMachine::consumed(std::uint64_t rows, std::uint64_t bytes, Time now) {
  require(state_ != State::closing, "records came after the cut");
  rows_ += rows;
  bytes_ += bytes;
  if (state_ == State::open) return;
  const bool moved = std::any_of(owned_.begin(), owned_.end(), [](const auto& entry) { return entry.second.moved(); });
  if (!moved) return;
  state_ = State::open;
  opened_ = now;
}

EpochMachine::Time EpochMachine::latest_end() const {
  return opened_ + (last_commit_ ? limits_.interval : limits_.interval * 3 / 4);
}

EpochMachine::Time EpochMachine::pause_over() const {
  return last_commit_ ? *last_commit_ + limits_.min_pause : opened_;
}

bool EpochMachine::due(Time now, bool caught_up) const {
  if (state_ != State::open) return false;
  if (rows_ >= limits_.rows_max || bytes_ >= limits_.bytes_max) return true;
  if (now >= latest_end()) return true;
  return (caught_up || at_bounds()) && now >= pause_over();
}

std::chrono::milliseconds EpochMachine::patience(Time now, std::chrono::milliseconds at_most) const {
  if (state_ != State::open) return at_most;
  const Time end = latest_end();
  const Time until = pause_over() > now ? std::min(end, pause_over()) : end;
  if (until <= now) return std::chrono::milliseconds(0);
  return std::min(at_most, std::chrono::ceil<std::chrono::milliseconds>(until - now));
}

Cut EpochMachine::cut() {
  require(state_ == State::open, "a cut was asked for without an open epoch");
  Cut cut;
  cut.epoch = next_epoch();
  for (const auto& [split, owned] : owned_) {
    require(owned.next_ >= owned.claim_.position, "a position went backwards");
    if (owned.moved()) cut.moves.push_back({split, owned.claim_.generation, owned.claim_.position, owned.next_});
  }
  require(!cut.moves.empty(), "an epoch ended without a move");
  state_ = State::closing;
  return cut;
}

Cut EpochMachine::rewind(const Split& split, std::int64_t to) {
  require(state_ == State::idle, "a split was rewound while an epoch was open");
  const auto found = owned_.find(split);
  require(found != owned_.end(), "a split was rewound that is not owned");
  OwnedSplit& owned = found->second;
  owned.next_ = to;
  state_ = State::closing;
  return {next_epoch(), {{split, owned.claim_.generation, owned.claim_.position, to}}};
}

void EpochMachine::committed(const Cut& cut, Time now) {
  require(state_ == State::closing, "a commit was reported that was not asked for");
  for (const auto& move : cut.moves) {
    const auto found = owned_.find(move.split);
    require(found != owned_.end(), "a split left between cut and commit");
    OwnedSplit& owned = found->second;
    require(owned.claim_.position == move.from && owned.next_ == move.to, "a commit does not fit its cut");
    owned.claim_.position = move.to;
    owned.claim_.epoch = cut.epoch;
  }
  last_epoch_ = cut.epoch;
  last_commit_ = now;
  rows_ = bytes_ = 0;
  state_ = State::idle;
}

void EpochMachine::rolled_back() {
  for (auto& [split, owned] : owned_) owned.next_ = owned.claim_.position;
  rows_ = bytes_ = 0;
  state_ = State::idle;
}

std::size_t EpochMachine::rows_left(std::size_t at_most) const {
  if (rows_ >= limits_.rows_max) return 1;
  return static_cast<std::size_t>(std::min<std::uint64_t>(at_most, limits_.rows_max - rows_));
}

bool EpochMachine::at_bounds() const {
  return std::all_of(owned_.begin(), owned_.end(), [](const auto& entry) { return entry.second.at_bound(); });
}

}  // namespace sluice
