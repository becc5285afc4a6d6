// How large a share of the records may be bad before the job is taken to be at fault, not the records. Pure.
#pragma once

#include <cstdint>

namespace sluice {

class BadShare {
 public:
  // `share_max` is in (0, 1]; with 1 nothing is ever too much.
  explicit BadShare(double share_max) : share_max_(share_max) {}

  // Would the last records, with these of the epoch that is about to be committed, hold too many bad ones? Never before
  // `records_min` were seen: the first records of a topic prove nothing.
  bool exceeded(std::uint64_t records, std::uint64_t bad) const {
    const std::uint64_t all = records_ + records;
    return all >= records_min && static_cast<double>(bad_ + bad) > share_max_ * static_cast<double>(all);
  }
  // The epoch was committed. Older ones count less and less.
  void committed(std::uint64_t records, std::uint64_t bad) {
    records_ += records;
    bad_ += bad;
    while (records_ > records_remembered) {
      records_ /= 2;
      bad_ /= 2;
    }
  }

  static constexpr std::uint64_t records_min = 1000;

 private:
  static constexpr std::uint64_t records_remembered = 20'000;

  double share_max_;
  std::uint64_t records_ = 0;
  std::uint64_t bad_ = 0;
};

}  // namespace sluice
