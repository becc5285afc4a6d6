// How parts of a dead letter are written in its table. Pure functions.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sluice::sql {

using LetterHeaders = std::vector<std::pair<std::string, std::string>>;

// [{"name": "trace", "value": "..."}, {"name": "raw", "hex": "00ff"}]: hex where the value is not UTF-8.
std::string headers_json(const LetterHeaders& headers);
// What headers_json() wrote; nothing of what is not understood.
LetterHeaders parse_headers(std::string_view json);

std::string to_hex(std::string_view bytes);
// Upper or lower case; nothing when it is no hex.
std::optional<std::string> from_hex(std::string_view hex);

}  // namespace sluice::sql
