#include "sources/kafka/known_brokers.h"

#include <simdjson.h>

#include <optional>

namespace sluice::kafka {

namespace {

std::optional<std::string_view> text_of(simdjson::dom::element broker, std::string_view name) {
  std::string_view text;
  if (broker[name].get(text) != simdjson::SUCCESS) return std::nullopt;
  return text;
}

}  // namespace

KnownBrokers known_brokers(std::string_view statistics) {
  simdjson::dom::parser parser;
  simdjson::dom::object brokers;
  if (parser.parse(statistics.data(), statistics.size())["brokers"].get(brokers) != simdjson::SUCCESS) return {};
  KnownBrokers known{false, false};
  for (const auto& broker : brokers) {
    const auto source = text_of(broker.value, "source");
    const auto state = text_of(broker.value, "state");
    if (!source || !state) return {};
    if (*source == "logical") continue;  // stands for a role, such as the group's coordinator
    known.any = true;
    known.any_up = known.any_up || *state == "UP";
  }
  return known;
}

}  // namespace sluice::kafka
