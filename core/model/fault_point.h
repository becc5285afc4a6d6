// Named places at which a test kills the process or makes a step fail. They sit at per-epoch steps only, never on the
// per-record path. Armed by the environment: SLUICE_FAULT="sink.before_commit:kill@3" dies at the third passage;
// actions are kill (SIGKILL to itself), stop (SIGSTOP to itself) and fail (throws a retryable Error).
// A build with -DSLUICE_FAULT_POINTS=OFF has none of it.
#pragma once

#include <span>
#include <string_view>

namespace sluice {

// Every name that fault_point() may be called with; the crash matrix walks this list.
std::span<const std::string_view> fault_point_names();

#ifdef SLUICE_FAULT_POINTS
void fault_point(std::string_view name);
#else
inline void fault_point(std::string_view) {}
#endif

}  // namespace sluice
