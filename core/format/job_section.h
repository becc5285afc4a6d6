// Reads one object of a job file, key by key, and collects what is wrong with it instead of stopping at the first.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/format/job_keys.h"
#include "core/format/job_names.h"
#include "core/format/job_tree.h"

namespace sluice::format {

// A key whose value was understood, for job_limits.cpp.
struct SeenKey {
  std::string key;      // "sink.insert.mode", also for an entry of sinks
  std::string path;     // "sinks[1].insert.mode"
  Place place;          // of the value
  std::string written;  // with ${…} as it stands in the file; empty for a list
  std::string value;    // not for messages: may have come from a variable. Of a list: how many entries
};

// What the reading of one file shares.
struct Reading {
  std::filesystem::path folder;  // of the job file: where ${file:…} starts
  std::vector<Problem> problems;
  std::vector<SeenKey> seen;

  void problem(Place place, std::string text) { problems.push_back({std::move(place), std::move(text)}); }
};

enum class Zero { refused, allowed };

// A getter leaves `into` alone when the key is absent or wrong. Asking for a key that job_keys() lacks is a mistake of
// the program and throws std::logic_error. It borrows all that it is made from.
class SectionReader {
 public:
  // `key` and `path` say the same place, see SeenKey; both are empty for the file as a whole. Unknown keys are
  // problems from the start.
  SectionReader(const Node& node, const Section& section, std::string key, std::string path, Reading& reading);

  bool has(std::string_view key) const;
  // `example` is what to write: "\"topics\": [\"orders\"]".
  void require(std::string_view key, std::string_view example);
  // Keys that belong to another "type" than this one are problems.
  void refuse_keys_of_others(std::string_view type);

  void text(std::string_view key, std::string& into);
  void flag(std::string_view key, bool& into);
  void duration(std::string_view key, Zero zero, std::chrono::milliseconds& into);
  void size(std::string_view key, std::uint64_t& into);
  template <typename Number>
  void whole(std::string_view key, std::int64_t min, std::int64_t max, Number& into) {
    if (const auto number = whole_between(key, min, max)) into = static_cast<Number>(*number);
  }
  // Above 0 and at most 1.
  void share(std::string_view key, double& into);
  // `word` leaves nothing in it.
  void whole_or(std::string_view key, std::string_view word, std::int64_t min, std::int64_t max,
                std::optional<std::uint64_t>& into);
  // One string stands for a list of one.
  void texts(std::string_view key, std::vector<std::string>& into);
  template <typename Enum, std::size_t count>
  void choice(std::string_view key, const std::array<Name<Enum>, count>& names, Enum& into) {
    std::array<std::string_view, count> allowed;
    for (std::size_t i = 0; i < count; ++i) allowed[i] = names[i].text;
    if (const auto chosen = choose(key, allowed)) into = names[*chosen].value;
  }
  // Of a map, by the user's own keys. Empty texts are allowed here.
  std::map<std::string, std::string> text_map(std::string_view key);
  std::vector<std::pair<std::string, std::int64_t>> whole_map(std::string_view key);

  std::optional<SectionReader> section(std::string_view key);
  std::vector<SectionReader> sections(std::string_view key);
  // Only counts the entries, see SeenKey.
  void list(std::string_view key);

  // `text` follows the key's path: "\"sink.pk.fields\" is empty". Points at the key, or where it is absent, at the
  // section.
  void problem(std::string_view key, const std::string& text);
  // Whether this section, with all in it, has been read without a problem so far.
  bool good() const;

 private:
  struct Scalar {
    std::string value;  // substitutions made
    bool typed;         // may stand for a number or flag: bare in the file, substituted, or from the command line
  };

  const Node* find(std::string_view key, Holds holds) const;
  const Node* find_list(std::string_view key, Holds holds, std::string_view wanted);
  std::optional<Scalar> scalar(const Node& node, std::string_view key, std::string_view wanted);
  std::optional<std::string> text_at(const Node& node, std::string_view key, std::string_view wanted);
  std::optional<std::int64_t> whole_between(std::string_view key, std::int64_t min, std::int64_t max);
  std::optional<std::size_t> choose(std::string_view key, std::span<const std::string_view> allowed);
  void wrong_kind(const Node& node, std::string_view key, std::string_view wanted);
  void report_unknown_keys();
  void saw(std::string_view key, const Node& node, std::string value);
  std::string path_of(std::string_view key) const;
  std::string named(std::string_view key) const;  // the path in quotes, for messages

  const Node* node_;
  const Section* section_;
  std::string key_;
  std::string path_;
  Reading* reading_;
  std::size_t problems_before_;
};

}  // namespace sluice::format
