// What the program writes down for its own later reading: JSON with a version and a checksum around it. Pure.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "core/model/ids.h"

namespace sluice::format {

// `what` is the name of the body's key.
std::string sealed_json(std::string_view what, const nlohmann::ordered_json& body);
// Throws std::exception with the reason where the text is not one, or not whole.
nlohmann::ordered_json unsealed_json(std::string_view what, const std::string& text);

nlohmann::ordered_json to_json(const Positions& positions);
Positions positions_from(const nlohmann::ordered_json& from);

}  // namespace sluice::format
