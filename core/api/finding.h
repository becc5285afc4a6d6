// What a part of a job says about itself when `sluice check` asks.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sluice {

enum class Severity {
  ok,
  note,     // worth knowing
  warning,  // works, but will hurt one day
  problem,  // the job does not work, or not with the guarantee that it promises
};

constexpr std::string_view to_string(Severity severity) {
  switch (severity) {
    case Severity::ok:
      return "ok";
    case Severity::note:
      return "note";
    case Severity::warning:
      return "warning";
    case Severity::problem:
      return "problem";
  }
  return "";
}

struct Finding {
  Severity severity = Severity::ok;
  std::string text;       // what was found; never a secret
  std::string next_step;  // empty where there is nothing to do
};

using Findings = std::vector<Finding>;

}  // namespace sluice
