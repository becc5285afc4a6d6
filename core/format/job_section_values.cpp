// The getters of SectionReader for single values, lists and maps of them.
#include <algorithm>
#include <charconv>
#include <limits>
#include <utility>

#include "core/format/job_section.h"
#include "core/format/quantity.h"
#include "core/format/substitution.h"

namespace sluice::format {

namespace {

std::string range_text(std::int64_t min, std::int64_t max) {
  if (max == std::numeric_limits<std::int64_t>::max()) return "from " + std::to_string(min);
  return "from " + std::to_string(min) + " to " + std::to_string(max);
}

}  // namespace

std::optional<SectionReader::Scalar> SectionReader::scalar(const Node& node, std::string_view key,
                                                           std::string_view wanted) {
  const bool on_command_line = !node.place.override_path.empty();
  switch (node.kind) {
    case NodeKind::boolean:
    case NodeKind::number:
      return Scalar{node.text, true};
    case NodeKind::null:
      if (!on_command_line) break;  // there it is the word
      return Scalar{node.text, true};
    case NodeKind::text: {
      auto substituted = substitute(node.text, reading_->folder);
      if (substituted.error.empty()) {
        return Scalar{std::move(substituted.text), on_command_line || substituted.changed};
      }
      reading_->problem(node.place, named(key) + ": " + substituted.error);
      return std::nullopt;
    }
    case NodeKind::list:
    case NodeKind::object:
      break;
  }
  wrong_kind(node, key, wanted);
  return std::nullopt;
}

std::optional<std::string> SectionReader::text_at(const Node& node, std::string_view key, std::string_view wanted) {
  if (node.kind != NodeKind::text && node.place.override_path.empty()) {
    wrong_kind(node, key, wanted);
    return std::nullopt;
  }
  auto found = scalar(node, key, wanted);
  if (!found) return std::nullopt;
  if (found->value.find('\0') != std::string::npos) {
    reading_->problem(node.place, named(key) + " holds a NUL character, which no server takes; remove it");
    return std::nullopt;
  }
  return std::move(found->value);
}

void SectionReader::text(std::string_view key, std::string& into) {
  const auto* node = find(key, Holds::value);
  if (node == nullptr) return;
  auto found = text_at(*node, key, "a string");
  if (!found) return;
  if (found->empty()) return problem(key, "is empty; write a value or remove the key");
  saw(key, *node, *found);
  into = std::move(*found);
}

void SectionReader::flag(std::string_view key, bool& into) {
  const auto* node = find(key, Holds::value);
  if (node == nullptr) return;
  const auto found = scalar(*node, key, "true or false");
  if (!found) return;
  if (!found->typed || (found->value != "true" && found->value != "false")) {
    return problem(key, "must be true or false, without quotes");
  }
  into = found->value == "true";
  saw(key, *node, found->value);
}

std::optional<std::int64_t> SectionReader::whole_between(std::string_view key, std::int64_t min, std::int64_t max) {
  const auto* node = find(key, Holds::value);
  if (node == nullptr) return std::nullopt;
  const auto found = scalar(*node, key, "a whole number");
  if (!found) return std::nullopt;
  const auto number = found->typed ? parse_whole(found->value) : std::nullopt;
  if (!number || *number < min || *number > max) {
    problem(key, "must be a whole number " + range_text(min, max) + ", without quotes");
    return std::nullopt;
  }
  saw(key, *node, found->value);
  return number;
}

void SectionReader::whole_or(std::string_view key, std::string_view word, std::int64_t min, std::int64_t max,
                             std::optional<std::uint64_t>& into) {
  const auto* node = find(key, Holds::value);
  if (node == nullptr) return;
  const auto found = scalar(*node, key, "a whole number or \"" + std::string(word) + '"');
  if (!found) return;
  if (found->value == word) {
    into.reset();
    return;
  }
  const auto number = found->typed ? parse_whole(found->value) : std::nullopt;
  if (!number || *number < min || *number > max) {
    return problem(key, "must be a whole number " + range_text(min, max) + ", without quotes, or " + '"' +
                            std::string(word) + '"');
  }
  into = static_cast<std::uint64_t>(*number);
}

void SectionReader::share(std::string_view key, double& into) {
  const auto* node = find(key, Holds::value);
  if (node == nullptr) return;
  const auto found = scalar(*node, key, "a number");
  if (!found) return;
  double number = 0;
  const char* const end = found->value.data() + found->value.size();
  const auto parsed = std::from_chars(found->value.data(), end, number);
  if (!found->typed || parsed.ec != std::errc() || parsed.ptr != end || !(number > 0) || number > 1) {
    return problem(key, "must be a number above 0 and at most 1, without quotes, such as 0.01");
  }
  saw(key, *node, found->value);
  into = number;
}

void SectionReader::duration(std::string_view key, Zero zero, std::chrono::milliseconds& into) {
  const auto* node = find(key, Holds::value);
  if (node == nullptr) return;
  constexpr auto wanted = "a duration with its unit, such as \"500ms\", \"5s\", \"10min\", \"1h\" or \"2d\"";
  const auto found = scalar(*node, key, wanted);
  if (!found) return;
  const auto parsed = parse_duration(found->value);
  if (!parsed) {
    const bool bare = parse_whole(found->value).has_value();
    return problem(key, bare ? "has no unit; write ms, s, min, h or d behind the number, as in \"5s\""
                             : "must be " + std::string(wanted) + ", and at most 3650d");
  }
  if (zero == Zero::refused && parsed->count() == 0)
    return problem(key, "must be longer than 0; write at least \"1ms\"");
  into = *parsed;
}

void SectionReader::size(std::string_view key, std::uint64_t& into) {
  const auto* node = find(key, Holds::value);
  if (node == nullptr) return;
  constexpr auto wanted = "a size above 0, such as \"256MiB\", \"10MB\", or bytes as a number";
  const auto found = scalar(*node, key, wanted);
  if (!found) return;
  const auto parsed = parse_size(found->value);
  if (!parsed || *parsed == 0) {
    return problem(key, "must be " + std::string(wanted) + "; units are B, KB, MB, GB, TB, KiB, MiB, GiB and TiB");
  }
  into = *parsed;
}

std::optional<std::size_t> SectionReader::choose(std::string_view key, std::span<const std::string_view> allowed) {
  const auto* node = find(key, Holds::value);
  if (node == nullptr) return std::nullopt;
  const auto found = text_at(*node, key, "a string");
  if (!found) return std::nullopt;
  const auto chosen = std::find(allowed.begin(), allowed.end(), *found);
  if (chosen == allowed.end()) {
    std::string list;
    for (const auto& name : allowed) list += (list.empty() ? "" : ", ") + std::string(name);
    // As written: what a variable holds is not for messages.
    problem(key, "is \"" + node->text + "\", which is none of its values; write one of: " + list);
    return std::nullopt;
  }
  saw(key, *node, *found);
  return static_cast<std::size_t>(chosen - allowed.begin());
}

void SectionReader::texts(std::string_view key, std::vector<std::string>& into) {
  const auto* node = find(key, Holds::value);
  if (node == nullptr) return;
  std::vector<std::string> found;
  const auto add = [&](const Node& item) {
    auto text = text_at(item, key, "a list of strings");
    if (!text) return;
    if (text->empty()) return reading_->problem(item.place, named(key) + " holds an empty string; remove it");
    if (std::find(found.begin(), found.end(), *text) != found.end()) {
      return reading_->problem(item.place, named(key) + " names the same thing twice; remove one");
    }
    found.push_back(std::move(*text));
  };
  if (node->kind == NodeKind::list) {
    for (const auto& item : node->items) add(item);
  } else {
    add(*node);
  }
  into = std::move(found);
}

std::map<std::string, std::string> SectionReader::text_map(std::string_view key) {
  std::map<std::string, std::string> map;
  const auto* node = find(key, Holds::map);
  if (node == nullptr) return map;
  if (node->kind != NodeKind::object) {
    wrong_kind(*node, key, "an object");
    return map;
  }
  for (const auto& member : node->members) {
    const auto own = std::string(key) + "." + member.key;
    if (auto found = scalar(member.value, own, "a string, a number, true or false")) {
      map.emplace(member.key, std::move(found->value));
    }
  }
  return map;
}

std::vector<std::pair<std::string, std::int64_t>> SectionReader::whole_map(std::string_view key) {
  std::vector<std::pair<std::string, std::int64_t>> map;
  const auto* node = find(key, Holds::map);
  if (node == nullptr) return map;
  if (node->kind != NodeKind::object) {
    wrong_kind(*node, key, "an object");
    return map;
  }
  for (const auto& member : node->members) {
    const auto own = std::string(key) + "." + member.key;
    const auto found = scalar(member.value, own, "a whole number");
    if (!found) continue;
    const auto number = found->typed ? parse_whole(found->value) : std::nullopt;
    if (number && *number >= 0) {
      map.emplace_back(member.key, *number);
    } else {
      reading_->problem(member.value.place, named(own) + " must be a whole number from 0, without quotes");
    }
  }
  return map;
}

}  // namespace sluice::format
