#include "core/format/sealed_json.h"

#include <nlohmann/json.hpp>
#include <stdexcept>

#include "core/model/fingerprint.h"

namespace sluice::format {

using nlohmann::ordered_json;

namespace {

constexpr int version = 1;

}  // namespace

std::string sealed_json(std::string_view what, const ordered_json& body) {
  return ordered_json{{"version", version}, {"checksum", fingerprint(body.dump())}, {std::string(what), body}}.dump(2) +
         "\n";
}

ordered_json unsealed_json(std::string_view what, const std::string& text) {
  const auto whole = ordered_json::parse(text);
  const ordered_json& body = whole.at(std::string(what));
  if (whole.at("version") != version) throw std::runtime_error("it is of another version");
  if (whole.at("checksum") != fingerprint(body.dump())) throw std::runtime_error("its checksum does not fit");
  return body;
}

ordered_json to_json(const Positions& positions) {
  ordered_json out = ordered_json::array();
  for (const auto& [split, position] : positions) {
    out.push_back({{"topic", split.topic}, {"partition", split.partition}, {"next_offset", position}});
  }
  return out;
}

Positions positions_from(const ordered_json& from) {
  Positions positions;
  for (const auto& one : from) positions.emplace(Split{one.at("topic"), one.at("partition")}, one.at("next_offset"));
  return positions;
}

}  // namespace sluice::format
