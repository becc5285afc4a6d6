#include "core/format/job_section.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace sluice::format {

namespace {

std::string in_quotes(std::string_view text) {
  return '"' + std::string(text) + '"';
}

std::string joined(const std::string& path, std::string_view key) {
  return path.empty() ? std::string(key) : path + "." + std::string(key);
}

}  // namespace

SectionReader::SectionReader(const Node& node, const Section& section, std::string key, std::string path,
                             Reading& reading)
    : node_(&node),
      section_(&section),
      key_(std::move(key)),
      path_(std::move(path)),
      reading_(&reading),
      problems_before_(reading.problems.size()) {
  report_unknown_keys();
}

void SectionReader::report_unknown_keys() {
  std::vector<std::string> names;
  for (const auto& key : section_->keys) names.emplace_back(key.name);
  const auto nested = paths_in(*section_);
  for (const auto& member : node_->members) {
    if (section_->find(member.key) != nullptr) continue;
    auto text = "unknown key " + named(member.key);
    if (std::find(nested.begin(), nested.end(), member.key) != nested.end()) {
      const auto dot = member.key.find('.');
      text += "; write " + in_quotes(member.key.substr(dot + 1)) + " inside " + in_quotes(member.key.substr(0, dot));
    } else {
      text += "; did you mean " + in_quotes(nearest(member.key, names)) + "?";
    }
    reading_->problem(member.place, text);
  }
}

std::string SectionReader::path_of(std::string_view key) const {
  return joined(path_, key);
}

std::string SectionReader::named(std::string_view key) const {
  return in_quotes(path_of(key));
}

const Node* SectionReader::find(std::string_view key, Holds holds) const {
  const auto* known = section_->find(key);
  if (known == nullptr || known->holds != holds) {
    throw std::logic_error("job_keys.cpp does not list " + path_of(key) + " as it is read");
  }
  const auto* member = node_->find(key);
  return member == nullptr ? nullptr : &member->value;
}

bool SectionReader::has(std::string_view key) const {
  return node_->find(key) != nullptr;
}

bool SectionReader::good() const {
  return reading_->problems.size() == problems_before_;
}

void SectionReader::problem(std::string_view key, const std::string& text) {
  const auto* member = node_->find(key);
  reading_->problem(member == nullptr ? node_->place : member->value.place, named(key) + " " + text);
}

void SectionReader::require(std::string_view key, std::string_view example) {
  if (!has(key)) problem(key, "is missing; add it, for example " + std::string(example));
}

void SectionReader::refuse_keys_of_others(std::string_view type) {
  for (const auto& key : section_->keys) {
    if (key.only_for.empty() || key.only_for == type || !has(key.name)) continue;
    problem(key.name, "belongs to the type " + in_quotes(key.only_for) + ", but the type here is " + in_quotes(type) +
                          "; remove the key or change the type");
  }
}

void SectionReader::wrong_kind(const Node& node, std::string_view key, std::string_view wanted) {
  reading_->problem(node.place, named(key) + " must be " + std::string(wanted) + ", but is " +
                                    std::string(describe(node.kind)) + "; change it");
}

void SectionReader::saw(std::string_view key, const Node& node, std::string value) {
  reading_->seen.push_back({joined(key_, key), path_of(key), node.place, node.text, std::move(value)});
}

const Node* SectionReader::find_list(std::string_view key, Holds holds, std::string_view wanted) {
  const auto* node = find(key, holds);
  if (node == nullptr) return nullptr;
  if (node->kind != NodeKind::list) {
    wrong_kind(*node, key, wanted);
    return nullptr;
  }
  saw(key, *node, std::to_string(node->items.size()));
  return node;
}

std::optional<SectionReader> SectionReader::section(std::string_view key) {
  const auto* node = find(key, Holds::section);
  if (node == nullptr) return std::nullopt;
  if (node->kind != NodeKind::object) {
    wrong_kind(*node, key, "an object");
    return std::nullopt;
  }
  return SectionReader(*node, *section_->find(key)->section, joined(key_, key), path_of(key), *reading_);
}

std::vector<SectionReader> SectionReader::sections(std::string_view key) {
  std::vector<SectionReader> readers;
  const auto* node = find_list(key, Holds::sections, "a list of objects");
  if (node == nullptr) return readers;
  for (std::size_t i = 0; i < node->items.size(); ++i) {
    const auto path = path_of(key) + "[" + std::to_string(i) + "]";
    if (node->items[i].kind != NodeKind::object) {
      reading_->problem(node->items[i].place, in_quotes(path) + " must be an object; change it");
      continue;
    }
    // The entries of "sinks" obey the rules of "sink".
    const auto shared = key == "sinks" ? std::string("sink") : joined(key_, key);
    readers.emplace_back(node->items[i], *section_->find(key)->section, shared, path, *reading_);
  }
  return readers;
}

void SectionReader::list(std::string_view key) {
  find_list(key, Holds::value, "a list");
}

}  // namespace sluice::format
