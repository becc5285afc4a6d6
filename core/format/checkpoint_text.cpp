#include "core/format/checkpoint_text.h"

#include <nlohmann/json.hpp>

#include "core/format/sealed_json.h"
#include "core/model/error.h"

namespace sluice::format {

using nlohmann::ordered_json;

std::string checkpoint_text(const Checkpoint& checkpoint) {
  ordered_json body{{"epoch", number(checkpoint.epoch)},
                    {"positions", to_json(checkpoint.positions)},
                    {"committables", ordered_json::array()}};
  for (const Committable& one : checkpoint.committables) {
    body["committables"].push_back({{"sink", one.sink}, {"transaction", one.transaction}});
  }
  return sealed_json("checkpoint", body);
}

Checkpoint parse_checkpoint(const std::string& text, const std::string& where) {
  try {
    const ordered_json body = unsealed_json("checkpoint", text);
    Checkpoint checkpoint;
    checkpoint.epoch = Epoch{body.at("epoch").get<std::uint64_t>()};
    checkpoint.positions = positions_from(body.at("positions"));
    for (const auto& one : body.at("committables")) {
      checkpoint.committables.push_back({one.at("sink"), one.at("transaction")});
    }
    return checkpoint;
  } catch (const std::exception& error) {
    throw Error(Fault::fatal, where + " is no checkpoint of this program: " + error.what() +
                                  ". What it decided is not known, and nothing was touched: `sluice recover --list` "
                                  "shows what is prepared; commit or roll that back, then remove it");
  }
}

}  // namespace sluice::format
