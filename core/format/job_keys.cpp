#include "core/format/job_keys.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <numeric>

namespace sluice::format {

namespace {

constexpr Key kafka_key(std::string_view name, Holds holds = Holds::value) {
  return {.name = name, .holds = holds, .section = nullptr, .only_for = "kafka"};
}

constexpr std::array source_keys{
    Key{"type"},
    kafka_key("bootstrap.servers"),
    kafka_key("topics"),
    kafka_key("topics.regex"),
    kafka_key("group.id"),
    kafka_key("scan.startup.mode"),
    kafka_key("scan.startup.timestamp-millis"),
    kafka_key("scan.startup.specific-offsets", Holds::map),
    kafka_key("partition.discovery.interval"),
    kafka_key("on.lost.records"),
    kafka_key("properties", Holds::map),
    Key{.name = "path", .only_for = "file"},
    Key{"value.format"},
    Key{"key.format"},
};
constexpr Section source_section{source_keys};

constexpr std::array column_keys{Key{"name"}, Key{"type"}, Key{"from"}};
constexpr Section column_section{column_keys};

constexpr std::array sink_keys{
    Key{"type"},
    Key{"name"},
    Key{"connection.url"},
    Key{"topics"},
    Key{"table.name.format"},
    Key{"insert.mode"},
    Key{"pk.mode"},
    Key{"pk.fields"},
    Key{"delete.enabled"},
    Key{"auto.create"},
    Key{"auto.evolve"},
    Key{"columns", Holds::sections, &column_section},
    Key{"commit.protocol"},
};
constexpr Section sink_section{sink_keys};

constexpr std::array checkpoint_keys{
    Key{"interval"},           Key{"timeout"}, Key{"min.pause"}, Key{"max.rows"}, Key{"max.bytes"},
    Key{"tolerable.failures"}, Key{"store"},   Key{"directory"},
};
constexpr Section checkpoint_section{checkpoint_keys};

constexpr std::array restart_keys{
    Key{"strategy"}, Key{"initial"}, Key{"max"}, Key{"attempts"}, Key{"delay"}, Key{"max.failures"}, Key{"interval"},
};
constexpr Section restart_section{restart_keys};

constexpr std::array errors_keys{Key{"tolerance"}, Key{"deadletter"}, Key{"max.share"}};
constexpr Section errors_section{errors_keys};

constexpr std::array top_keys{
    Key{"$schema"},
    Key{"name"},
    Key{"delivery.guarantee"},
    Key{"source", Holds::section, &source_section},
    Key{"transforms"},
    Key{"sink", Holds::section, &sink_section},
    Key{"sinks", Holds::sections, &sink_section},
    Key{"parallelism"},
    Key{"checkpoint", Holds::section, &checkpoint_section},
    Key{"restart", Holds::section, &restart_section},
    Key{"errors", Holds::section, &errors_section},
};
constexpr Section top_section{top_keys};

// Levenshtein's distance, one row of the table at a time.
std::size_t edits(std::string_view from, std::string_view to) {
  std::vector<std::size_t> row(to.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < from.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < to.size(); ++j) {
      const auto replaced = diagonal + (from[i] == to[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, diagonal + 1});
    }
  }
  return row[to.size()];
}

}  // namespace

const Key* Section::find(std::string_view name) const {
  const auto found = std::find_if(keys.begin(), keys.end(), [&](const Key& key) { return key.name == name; });
  return found == keys.end() ? nullptr : &*found;
}

const Section& job_keys() {
  return top_section;
}

std::vector<std::string> paths_in(const Section& section) {
  std::vector<std::string> paths;
  for (const auto& key : section.keys) {
    paths.emplace_back(key.name);
    if (key.holds != Holds::section) continue;
    for (const auto& inner : paths_in(*key.section)) paths.push_back(std::string(key.name) + "." + inner);
  }
  return paths;
}

std::string nearest(std::string_view wanted, const std::vector<std::string>& words) {
  std::string best;
  auto best_edits = std::numeric_limits<std::size_t>::max();
  for (const auto& word : words) {
    const auto count = edits(wanted, word);
    if (count >= best_edits) continue;
    best_edits = count;
    best = word;
  }
  return best;
}

}  // namespace sluice::format
