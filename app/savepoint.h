// A savepoint of a job, read by `run --from`.
#pragma once

#include <filesystem>

#include "app/wiring.h"

namespace sluice::app {

// Puts the savepoint of the directory into ledgers that do not know its splits yet. One that knows a split at another
// position holds rows that the savepoint does not know of, or the other way round: then it throws fatal, and nothing
// was moved. The recovery tables exist.
void start_from(const std::filesystem::path& directory, const Wiring& wiring, const Log& log);

}  // namespace sluice::app
