// Tells one text from another: sixteen hexadecimal digits (FNV-1a, 64 bits). Against accidents, not against attackers.
#pragma once

#include <string>
#include <string_view>

namespace sluice {

std::string fingerprint(std::string_view text);

}  // namespace sluice
