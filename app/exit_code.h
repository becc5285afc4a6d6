// What the process's exit code tells its caller; part of the command line's contract.
#pragma once

#include "core/model/error.h"

namespace sluice::app {

enum ExitCode : int { done = 0, failed = 1, usage = 2, fenced = 3, check_found_a_problem = 4 };

inline ExitCode exit_code(Fault fault) {
  return fault == Fault::fenced ? fenced : failed;
}

}  // namespace sluice::app
