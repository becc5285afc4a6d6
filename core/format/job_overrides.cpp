#include "core/format/job_overrides.h"

#include <string_view>
#include <utility>

#include "core/format/job_keys.h"
#include "core/format/redact.h"

namespace sluice::format {

namespace {

// The keys that the path is made of, outermost first; nothing if it leads nowhere. Keys hold dots themselves, so at
// each level the longest key that fits is taken.
std::vector<std::string> steps_of(std::string_view path) {
  std::vector<std::string> steps;
  const Section* section = &job_keys();
  while (true) {
    const Key* best = nullptr;
    for (const auto& key : section->keys) {
      const bool fits = path == key.name || (path.starts_with(key.name) && path[key.name.size()] == '.');
      if (fits && (best == nullptr || key.name.size() > best->name.size())) best = &key;
    }
    if (best == nullptr) return {};
    steps.emplace_back(best->name);
    if (path == best->name) return steps;
    path.remove_prefix(best->name.size() + 1);
    if (best->holds == Holds::map && !path.empty()) {
      steps.emplace_back(path);
      return steps;
    }
    if (best->holds != Holds::section) return {};
    section = best->section;
  }
}

void move_to(Node& node, const Place& place) {
  node.place = place;
  for (auto& item : node.items) move_to(item, place);
  for (auto& member : node.members) {
    member.place = place;
    move_to(member.value, place);
  }
}

Node value_of(const std::string& text, const Place& place, std::vector<Problem>& problems) {
  std::vector<Problem> found;
  auto node = parse_json(text, found);
  if (!node) {
    node.emplace();
    node->kind = NodeKind::text;
    node->text = text;
    found.clear();
  }
  for (auto& problem : found) problems.push_back({place, std::move(problem.text)});
  move_to(*node, place);
  return std::move(*node);
}

void set(Node& job, const std::vector<std::string>& steps, Node value, const Place& place) {
  Node* at = &job;
  for (const auto& step : steps) {
    if (at->kind != NodeKind::object) return;  // the reader says what is wrong with it
    auto* member = at->find(step);
    if (member == nullptr) {
      Node section;
      section.kind = NodeKind::object;
      section.place = place;
      at->members.push_back({step, place, std::move(section)});
      member = &at->members.back();
    }
    at = &member->value;
  }
  *at = std::move(value);
}

}  // namespace

bool is_path(std::string_view path) {
  return !steps_of(path).empty();
}

void apply_overrides(Node& job, const std::vector<std::string>& overrides, std::vector<Problem>& problems) {
  for (const auto& text : overrides) {
    const auto equals = text.find('=');
    if (equals == std::string::npos || equals == 0) {
      problems.push_back({{.override_path = "path=value"}, "no path before a \"=\"; write --set parallelism=2"});
      continue;
    }
    const auto path = text.substr(0, equals);
    const Place place{.override_path = redact(path)};
    const auto steps = steps_of(path);
    if (steps.empty()) {
      problems.push_back({place, "unknown key \"" + place.override_path + "\"; did you mean \"" +
                                     nearest(path, paths_in(job_keys())) + "\"?"});
      continue;
    }
    set(job, steps, value_of(text.substr(equals + 1), place, problems), place);
  }
}

}  // namespace sluice::format
