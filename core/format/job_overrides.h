// --set path=value: changes the tree of a job file before it is read.
#pragma once

#include <string>
#include <vector>

#include "core/format/job_tree.h"

namespace sluice::format {

// A later override of the same path wins. A path uses the keys of the file: "checkpoint.interval",
// "sink.connection.url". A value that is JSON is taken as such, any other as a string.
void apply_overrides(Node& job, const std::vector<std::string>& overrides, std::vector<Problem>& problems);

}  // namespace sluice::format
