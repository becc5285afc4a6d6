#include "core/model/ids.h"

namespace sluice {

std::string to_string(const Split& split) {
  return split.topic + "-" + std::to_string(split.partition);
}

std::string to_string(const Split& split, std::int64_t offset) {
  return to_string(split) + "@" + std::to_string(offset);
}

}  // namespace sluice
