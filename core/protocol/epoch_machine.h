// The epochs of one task, decided without a clock, a thread, a log or I/O: which records belong to the open epoch, when
// it ends, which moves of the ledger its end asks for. The task asks, acts, and reports back what happened.
//
// Life of an epoch:  idle --accept/reach--> open --cut--> closing --committed--> idle
//                                             \______________\______rolled_back--> idle, positions as the ledger has
//                                             them
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <vector>

#include "core/api/sink.h"
#include "core/model/ids.h"

namespace sluice {

struct EpochLimits {
  // An epoch lasts no longer; the first one is a quarter shorter, so that its commit is there within the interval, too,
  // and what is wrong with the sink shows soon.
  std::chrono::milliseconds interval{1000};
  std::chrono::milliseconds min_pause{
      5};  // from one commit to the end of the next epoch, when the source has caught up
  std::uint64_t rows_max = 1'000'000;
  std::uint64_t bytes_max = std::uint64_t{256} << 20;
};

// A split between the ledger's position and the one that the open epoch has reached.
class OwnedSplit {
 public:
  explicit OwnedSplit(const Claim& claim) : claim_(claim), next_(claim.position) {}

  // False: the record is not part of the epoch, being before the position (delivered again) or behind the bound.
  bool accept(std::int64_t offset) {
    if (offset < next_) return false;
    if (offset >= bound_) {
      reach(bound_);  // offsets grow: everything before the bound is consumed
      return false;
    }
    next_ = offset + 1;
    return true;
  }
  // Everything before `offset` is consumed or a hole.
  void reach(std::int64_t offset) {
    if (offset > bound_) offset = bound_;
    if (offset > next_) next_ = offset;
  }
  // No record at or behind `offset` is consumed: the end of a bounded run.
  void bound(std::int64_t offset) { bound_ = offset; }

  const Claim& claim() const { return claim_; }
  std::int64_t next() const { return next_; }
  bool moved() const { return next_ != claim_.position; }
  bool at_bound() const { return next_ >= bound_; }

 private:
  friend class EpochMachine;
  Claim claim_;
  std::int64_t next_;
  std::int64_t bound_ = std::numeric_limits<std::int64_t>::max();
};

class EpochMachine {
 public:
  using Time = std::chrono::steady_clock::time_point;

  explicit EpochMachine(const EpochLimits& limits) : limits_(limits) {}

  // The ledger has granted these claims. Not while an epoch is open.
  void own(const Claims& claims);
  // The splits are gone. Not while an epoch is open.
  void disown(const std::vector<Split>& splits);

  // nullptr: not owned. The pointer is valid until the split is disowned or owned again.
  OwnedSplit* find(const Split& split);
  Claims claims() const;
  // Ledger positions of everything owned.
  Positions ledger_positions() const;
  // How far the open epoch has come.
  Positions reached() const;

  // Records were accepted or reached; the first call since the last end opens the epoch.
  void consumed(std::uint64_t rows, std::uint64_t bytes, Time now);

  bool open() const { return state_ == State::open; }
  // Whether to end the epoch now.
  bool due(Time now, bool caught_up) const;
  // How long the source may be waited for before due() must be asked again; `at_most` when nothing is open.
  std::chrono::milliseconds patience(Time now, std::chrono::milliseconds at_most) const;

  // Ends the open epoch. Exactly one of committed() and rolled_back() must follow.
  Cut cut();
  void committed(const Cut& cut, Time now);
  // A cut that moves an owned split to a position that may be behind its own: its log is not what it was. Not while an
  // epoch is open; committed() or rolled_back() must follow as after cut().
  Cut rewind(const Split& split, std::int64_t to);
  // Also from `open` and `idle`.
  void rolled_back();

  // The number that the open epoch will have.
  Epoch next_epoch() const { return sluice::next(last_epoch_); }
  std::uint64_t rows() const { return rows_; }
  // How many more the open epoch takes, at most `at_most`, at least one.
  std::size_t rows_left(std::size_t at_most) const;
  std::uint64_t bytes() const { return bytes_; }
  // Every owned split has come to its bound.
  bool at_bounds() const;

 private:
  enum class State { idle, open, closing };

  Time latest_end() const;
  // Until then only its bounds end the open epoch.
  Time pause_over() const;

  EpochLimits limits_;
  State state_ = State::idle;
  std::map<Split, OwnedSplit> owned_;
  Epoch last_epoch_{};
  std::uint64_t rows_ = 0;
  std::uint64_t bytes_ = 0;
  Time opened_{};
  std::optional<Time> last_commit_;  // none: nothing was committed yet
};

}  // namespace sluice
