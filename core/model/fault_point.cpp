#include "core/model/fault_point.h"

#include <array>

#ifdef SLUICE_FAULT_POINTS
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <string>

#include "core/model/error.h"
#endif

namespace sluice {

namespace {
constexpr std::array<std::string_view, 23> names{
    "task.assigned",
    "sink.before_take_over",
    "sink.after_take_over",
    "task.before_seek",
    "sink.after_begin",
    "sink.after_first_write",
    "sink.before_ledger",
    "sink.after_ledger",
    "sink.after_commit",
    "task.before_source_commit",
    "task.before_release",
    // commit.protocol prepared, or several sinks
    "sink.before_prepare",
    "sink.after_prepare",
    "sink.before_commit_prepared",
    "store.after_raise",
    "store.before_publish",
    "store.after_publish",
    "group.between_commits",
    // commit.protocol wal
    "wal.before_seal",
    "wal.after_seal",
    "wal.before_apply",
    "wal.before_remove",
    // delivery.guarantee at-most-once
    "task.after_source_commit",
};
}  // namespace

std::span<const std::string_view> fault_point_names() {
  return names;
}

#ifdef SLUICE_FAULT_POINTS
namespace {

struct Armed {
  std::string name;
  std::string action;
  long passages_left = 1;
};

Armed read_environment() {
  const char* const text = std::getenv("SLUICE_FAULT");
  if (text == nullptr) return {};
  std::string spec = text;
  Armed armed;
  if (const auto at = spec.rfind('@'); at != std::string::npos) {
    armed.passages_left = std::strtol(spec.c_str() + at + 1, nullptr, 10);
    spec.resize(at);
  }
  const auto colon = spec.rfind(':');
  armed.name = spec.substr(0, colon);
  armed.action = colon == std::string::npos ? "kill" : spec.substr(colon + 1);
  return armed;
}

}  // namespace

void fault_point(std::string_view name) {
  static const Armed armed = read_environment();
  static std::atomic<long> left{armed.passages_left};
  if (armed.name.empty() || name != armed.name || left.fetch_sub(1) != 1) return;
  if (armed.action == "fail") throw Error(Fault::retryable, "fault point " + armed.name + " was armed to fail");
  std::raise(armed.action == "stop" ? SIGSTOP : SIGKILL);
}
#endif

}  // namespace sluice
