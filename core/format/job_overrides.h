// --set path=value: changes the tree of a job file before it is read.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/format/job_tree.h"

namespace sluice::format {

// Whether the path leads to a key that a job file may hold: "checkpoint.interval", "sink.connection.url".
bool is_path(std::string_view path);

// A later override of the same path wins. A value that is JSON is taken as such, any other as a string.
void apply_overrides(Node& job, const std::vector<std::string>& overrides, std::vector<Problem>& problems);

}  // namespace sluice::format
