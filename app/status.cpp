// `sluice status`: what the ledger says, and how far behind the source it is.
#include <algorithm>
#include <cstdio>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>

#include "app/commands.h"
#include "app/exit_code.h"
#include "app/status_line.h"
#include "app/wiring.h"
#include "core/format/job_reader.h"
#include "core/model/error.h"

namespace sluice::app {

namespace {

struct SplitStatus {
  Split split;
  std::optional<sql::LedgerEntry> entry;
  std::optional<std::int64_t> end;

  std::optional<std::int64_t> lag() const {
    if (!entry || !end) return std::nullopt;
    return std::max<std::int64_t>(0, *end - entry->claim.position);
  }
};

std::vector<SplitStatus> collect(const Wiring& wiring, const Log& log) {
  std::map<Split, SplitStatus> all;
  for (auto& [split, entry] : wiring.sink->ledger()) all[split] = {split, entry, std::nullopt};
  try {
    for (const auto& [split, end] : wiring.source->end_positions()) {
      all[split].split = split;
      all[split].end = end;
    }
  } catch (const Error& error) {
    log(LogLevel::warning, std::string("the lag is not known: ") + error.what(), {});
  }
  std::vector<SplitStatus> rows;
  for (auto& [split, status] : all) rows.push_back(std::move(status));
  return rows;
}

void print_json(const format::Job& job, const std::vector<SplitStatus>& rows, std::uint64_t letters) {
  nlohmann::ordered_json out{{"job", job.name},
                             {"sink", job.sinks.front().name},
                             {"dead_letters", letters},
                             {"splits", nlohmann::json::array()}};
  for (const auto& row : rows) {
    nlohmann::ordered_json split{{"topic", row.split.topic}, {"partition", row.split.partition}};
    if (row.entry) {
      split["next_offset"] = row.entry->claim.position;
      split["epoch"] = number(row.entry->claim.epoch);
      split["generation"] = number(row.entry->claim.generation);
      split["owner"] = row.entry->owner ? nlohmann::ordered_json(*row.entry->owner) : nlohmann::ordered_json(nullptr);
      split["updated_at"] = row.entry->updated_at;
    }
    if (row.end) split["end_offset"] = *row.end;
    if (const auto lag = row.lag()) split["lag"] = *lag;
    out["splits"].push_back(std::move(split));
  }
  std::cout << out.dump(2) << '\n';
}

void print_table(const format::Job& job, const std::vector<SplitStatus>& rows, std::uint64_t letters) {
  std::printf("job %s, sink %s, %s dead letters\n", job.name.c_str(), job.sinks.front().name.c_str(),
              with_commas(letters).c_str());
  std::printf("%-32s %14s %14s %12s %8s %10s  %-26s %s\n", "split", "next offset", "end", "lag", "epoch", "generation",
              "moved at", "owner");
  for (const auto& row : rows) {
    const auto text = [](const auto& value) { return value ? with_commas(static_cast<std::uint64_t>(*value)) : "-"; };
    const auto& entry = row.entry;
    std::printf("%-32s %14s %14s %12s %8s %10s  %-26s %s\n", to_string(row.split).c_str(),
                entry ? with_commas(static_cast<std::uint64_t>(entry->claim.position)).c_str() : "not started",
                text(row.end).c_str(), text(row.lag()).c_str(),
                entry ? std::to_string(number(entry->claim.epoch)).c_str() : "-",
                entry ? std::to_string(number(entry->claim.generation)).c_str() : "-",
                entry ? entry->updated_at.substr(0, 26).c_str() : "-",
                entry ? entry->owner.value_or("released").c_str() : "-");
  }
}

}  // namespace

int status_command(const JobArguments& arguments, bool json, const Log& log) {
  const format::Job job = format::read_job(arguments.file, arguments.overrides);
  const Wiring wiring = wire(job, nullptr, log);
  require_recovery_tables(*wiring.sink);
  const auto rows = collect(wiring, log);
  const std::uint64_t letters = wiring.sink->letter_count();
  json ? print_json(job, rows, letters) : print_table(job, rows, letters);
  return done;
}

}  // namespace sluice::app
