// A savepoint: where every sink of a job stood at one moment, in a file that the user owns. It is read by `run --from`.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "app/wiring.h"
#include "core/model/ids.h"

namespace sluice::app {

struct SavedSplits {
  Positions positions;
  TopicIds topics;  // that they belong to
};

struct Savepoint {
  std::string job;
  std::map<std::string, SavedSplits> sinks;  // by name
};

// Pure. parse() throws Error(fatal) where the text is no savepoint, with `where` in the message.
std::string savepoint_text(const Savepoint& savepoint, const std::string& taken_at);
Savepoint parse_savepoint(const std::string& text, const std::string& where);

// Puts the savepoint of the directory into ledgers that do not know its splits yet. One that knows a split at another
// position holds rows that the savepoint does not know of, or the other way round: then it throws fatal, and nothing
// was moved. The recovery tables exist.
void start_from(const std::filesystem::path& directory, const Wiring& wiring, const Log& log);

}  // namespace sluice::app
