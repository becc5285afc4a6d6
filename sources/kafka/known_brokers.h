// Whether librdkafka still has anybody to ask.
#pragma once

#include <string_view>

namespace sluice::kafka {

// `statistics` are librdkafka's, as its STATISTICS.md describes them. A broker that is down is known all the same,
// since it will be tried again. Yes in doubt.
bool knows_a_broker(std::string_view statistics);

}  // namespace sluice::kafka
