// For `check`: whether a directory is fit to hold what must survive.
#pragma once

#include <filesystem>

#include "core/api/finding.h"

namespace sluice {

// Changes nothing; a directory that does not exist yet is judged by the one that it would be made in. `must_survive`:
// losing it would cost more than work.
Findings inspect_directory(const std::filesystem::path& directory, bool must_survive);

}  // namespace sluice
