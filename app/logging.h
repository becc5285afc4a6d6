// Where log lines go: spdlog to standard error, as text for people or as one JSON object a line for machines.
#pragma once

#include <string>

#include "core/api/log.h"

namespace sluice::app {

// `format` is "text" or "json", `level` one of debug, info, warning, error. Both were checked by the command line.
Log make_log(const std::string& format, const std::string& level);

}  // namespace sluice::app
