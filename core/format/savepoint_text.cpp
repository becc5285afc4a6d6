#include "core/format/savepoint_text.h"

#include <nlohmann/json.hpp>

#include "core/format/sealed_json.h"
#include "core/model/error.h"

namespace sluice::format {

using nlohmann::ordered_json;

std::string savepoint_text(const Savepoint& savepoint, const std::string& taken_at) {
  ordered_json body{{"job", savepoint.job}, {"taken_at", taken_at}, {"sinks", ordered_json::array()}};
  for (const auto& [name, splits] : savepoint.sinks) {
    body["sinks"].push_back({{"name", name}, {"positions", to_json(splits.positions)}, {"topic_ids", splits.topics}});
  }
  return sealed_json("savepoint", body);
}

Savepoint parse_savepoint(const std::string& text, const std::string& where) {
  try {
    const ordered_json body = unsealed_json("savepoint", text);
    Savepoint savepoint;
    savepoint.job = body.at("job");
    for (const auto& sink : body.at("sinks")) {
      SavedSplits& splits = savepoint.sinks[sink.at("name")];
      splits.topics = sink.at("topic_ids").get<TopicIds>();
      splits.positions = positions_from(sink.at("positions"));
    }
    return savepoint;
  } catch (const std::exception& error) {
    throw Error(Fault::fatal, where + " is no savepoint of this program: " + error.what());
  }
}

}  // namespace sluice::format
