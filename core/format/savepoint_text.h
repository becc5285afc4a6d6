// A savepoint: where every sink of a job stood at one moment, in a file that the user owns. Pure.
#pragma once

#include <map>
#include <string>

#include "core/model/ids.h"

namespace sluice::format {

struct SavedSplits {
  Positions positions;
  TopicIds topics;  // that they belong to
};

struct Savepoint {
  std::string job;
  std::map<std::string, SavedSplits> sinks;  // by name
};

std::string savepoint_text(const Savepoint& savepoint, const std::string& taken_at);
// Throws Error(fatal) where the text is no savepoint, or not whole, with `where` in the message.
Savepoint parse_savepoint(const std::string& text, const std::string& where);

}  // namespace sluice::format
