#include "sinks/sql/standard_text.h"

#include <algorithm>

namespace sluice::sql {

std::string double_quoted(std::string_view identifier) {
  std::string quoted = "\"";
  for (const char c : identifier) quoted.append(c == '"' ? 2 : 1, c);
  return quoted + '"';
}

std::string on_conflict_update(const Dialect& dialect, const LoadPlan& plan) {
  std::string key;
  for (const std::size_t i : plan.key) key += (key.empty() ? "" : ", ") + dialect.quote(plan.columns[i].name);
  std::string changes;
  for (std::size_t i = 0; i < plan.columns.size(); ++i) {
    if (std::find(plan.key.begin(), plan.key.end(), i) != plan.key.end()) continue;
    const std::string name = dialect.quote(plan.columns[i].name);
    changes += (changes.empty() ? "" : ", ") + name + " = EXCLUDED." + name;
  }
  return " ON CONFLICT (" + key + ") DO " + (changes.empty() ? "NOTHING" : "UPDATE SET " + changes);
}

}  // namespace sluice::sql
