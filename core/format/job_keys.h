// Every key that a job file may hold, in one table: the reader, --set and the test of docs/job.schema.json walk it.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sluice::format {

struct Section;

enum class Holds {
  value,     // text, number, flag, or a list of these
  section,   // an object with keys of its own
  sections,  // a list of such objects
  map,       // an object whose keys are the user's own
};

struct Key {
  std::string_view name;  // with its dots: "connection.url" is one key
  Holds holds = Holds::value;
  const Section* section = nullptr;  // of section and sections
  std::string_view only_for = {};    // the "type" beside it that it belongs to; empty: to all
};

struct Section {
  std::span<const Key> keys;

  const Key* find(std::string_view name) const;
};

// The keys of the file's outermost object.
const Section& job_keys();

// "checkpoint", "checkpoint.interval", …: each key of the section and of the sections in it; not those of lists.
std::vector<std::string> paths_in(const Section& section);

// The word that takes the fewest edits to become `wanted`. `words` is not empty.
std::string nearest(std::string_view wanted, const std::vector<std::string>& words);

}  // namespace sluice::format
