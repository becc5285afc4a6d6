// Numbers as JSON writes them, taken over without passing through a double.
#pragma once

#include <string_view>

#include "core/model/value.h"

namespace sluice {

// Reads `text`, which must be one JSON number and nothing else: an integer that fits becomes int64 (-0 becomes 0), any
// other number a Decimal that views `text`. False if it is no number by JSON's strict grammar (no +1, 01, 1., .5, NaN).
bool read_number(std::string_view text, Value& value);

}  // namespace sluice
