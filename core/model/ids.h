// Names of the things that the protocol counts. Distinct types, so that an epoch is never passed for an offset.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <string>

namespace sluice {

enum class Epoch : std::uint64_t {};

// Fencing number of a split: grows each time a process takes the split over. An older one can commit nothing.
enum class Generation : std::uint64_t {};

constexpr std::uint64_t number(Epoch epoch) {
  return static_cast<std::uint64_t>(epoch);
}
constexpr std::uint64_t number(Generation generation) {
  return static_cast<std::uint64_t>(generation);
}
constexpr Epoch next(Epoch epoch) {
  return Epoch{number(epoch) + 1};
}

// A unit of a source that is read in order: a Kafka partition, a file.
struct Split {
  std::string topic;
  std::int32_t partition = 0;

  auto operator<=>(const Split&) const = default;
};

// "orders-3", as Kafka's own tools write it.
std::string to_string(const Split& split);
// "orders-3@1234": the place of one record in every message to the user.
std::string to_string(const Split& split, std::int64_t offset);

// The first offset of each split that is NOT consumed: always "next", never "last".
using Positions = std::map<Split, std::int64_t>;

// What a topic is called by its broker besides its name: another one when it is deleted and created again.
using TopicIds = std::map<std::string, std::string>;

// Short number that a reader gives a split when it first sees it; rows carry it instead of the name.
using SplitIndex = std::uint32_t;

struct Origin {
  SplitIndex split = 0;
  std::int64_t offset = 0;

  bool operator==(const Origin&) const = default;
};

}  // namespace sluice
