// What librdkafka still knows of brokers.
#pragma once

#include <string_view>

namespace sluice::kafka {

struct KnownBrokers {
  bool any = true;     // some are known, though perhaps down
  bool any_up = true;  // one is connected
};

// `statistics` are librdkafka's, as its STATISTICS.md describes them. Both are true in doubt.
KnownBrokers known_brokers(std::string_view statistics);

}  // namespace sluice::kafka
