#include "sources/kafka/known_brokers.h"

#include <simdjson.h>

#include <algorithm>

namespace sluice::kafka {

bool knows_a_broker(std::string_view statistics) {
  simdjson::dom::parser parser;
  simdjson::dom::object brokers;
  if (parser.parse(statistics.data(), statistics.size())["brokers"].get(brokers) != simdjson::SUCCESS) return true;
  // A logical one stands for a role, such as the group's coordinator, and has no address of its own.
  return std::any_of(brokers.begin(), brokers.end(), [](const auto& broker) {
    std::string_view source;
    return broker.value["source"].get(source) != simdjson::SUCCESS || source != "logical";
  });
}

}  // namespace sluice::kafka
