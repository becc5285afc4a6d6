#include "core/format/job_limits.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

namespace sluice::format {

namespace {

struct Limit {
  std::string_view key;
  std::string_view available;  // its values that work, with a comma and a space between them
  std::string_view next_step;
};

// The one place that knows; what gets done is taken out here. A list stands for the number of its entries.
constexpr std::array limits{
    Limit{"source.value.format", "json", "let the topic carry plain JSON"},
    Limit{"source.key.format", "none, json, string",
          "let the keys be JSON or text; a column can take their bytes with \"from\": \"@key\""},
    Limit{"transforms", "0", "remove the entries, and let \"columns\" pick and rename fields"},
    Limit{"sink.type", "postgres, mysql, mariadb, sqlite", "write to one of these"},
    Limit{"sink.insert.mode", "insert, upsert", "use upsert, which also adds the rows that are missing"},
    Limit{"sink.pk.mode", "none, kafka, record_key, record_value",
          "use record_value with fields of the record, or kafka for topic, partition and offset"},
    Limit{"sink.auto.evolve", "false", "set it to false, and add new columns with ALTER TABLE"},
};

bool is_available(const Limit& limit, std::string_view value) {
  std::string_view rest = limit.available;
  while (true) {
    const auto comma = rest.find(", ");
    if (rest.substr(0, comma) == value) return true;
    if (comma == std::string_view::npos) return false;
    rest.remove_prefix(comma + 2);
  }
}

}  // namespace

void refuse_what_is_not_there_yet(Reading& reading) {
  for (const auto& seen : reading.seen) {
    const auto limit =
        std::find_if(limits.begin(), limits.end(), [&](const Limit& candidate) { return candidate.key == seen.key; });
    if (limit == limits.end() || is_available(*limit, seen.value)) continue;
    const bool is_list = seen.written.empty();
    const auto what =
        is_list ? seen.value + " entries are not available in this version"
                : '"' + seen.written + "\" is not available in this version, only " + std::string(limit->available);
    reading.problem(seen.place, "\"" + seen.path + "\": " + what + "; " + std::string(limit->next_step));
  }
}

}  // namespace sluice::format
