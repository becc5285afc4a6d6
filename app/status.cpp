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

struct SinkStatus {
  std::string name;
  std::vector<SplitStatus> splits;
  std::uint64_t letters = 0;
  std::vector<sql::SqlSink::Prepared> prepared;
};

Positions ends_of(const Wiring& wiring, const Log& log) {
  try {
    return wiring.source->end_positions();
  } catch (const Error& error) {
    log(LogLevel::warning, std::string("the lag is not known: ") + error.what(), {});
    return {};
  }
}

std::vector<SplitStatus> splits_of(const WiredSink& wired, const Positions& ends, const Positions& committed) {
  std::map<Split, SplitStatus> all;
  for (auto& [split, entry] : wired.sink->ledger()) all[split] = {split, entry, std::nullopt};
  for (const auto& [split, position] : committed) {
    if (wired.takes(split.topic)) all[split] = {split, sql::LedgerEntry{{position, {}, {}}, "the group", {}, {}}, {}};
  }
  for (const auto& [split, end] : ends) {
    if (!wired.takes(split.topic)) continue;
    all[split].split = split;
    all[split].end = end;
  }
  std::vector<SplitStatus> rows;
  for (auto& [split, status] : all) rows.push_back(std::move(status));
  return rows;
}

nlohmann::ordered_json to_json(const format::Job& job, const SinkStatus& sink) {
  nlohmann::ordered_json out{{"job", job.name},
                             {"sink", sink.name},
                             {"dead_letters", sink.letters},
                             {"in_doubt", nlohmann::json::array()},
                             {"splits", nlohmann::json::array()}};
  for (const auto& one : sink.prepared) {
    out["in_doubt"].push_back({{"transaction", one.transaction.name}, {"prepared_at", one.transaction.prepared_at}});
  }
  for (const auto& row : sink.splits) {
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
  return out;
}

void print_table(const format::Job& job, const SinkStatus& sink) {
  std::printf("job %s, sink %s, %s dead letters\n", job.name.c_str(), sink.name.c_str(),
              with_commas(sink.letters).c_str());
  for (const auto& one : sink.prepared) {
    std::printf("in doubt: %s %s\n", one.transaction.name.c_str(),
                one.transaction.prepared_at.empty() ? "" : ("since " + one.transaction.prepared_at).c_str());
  }
  std::printf("%-32s %14s %14s %12s %8s %10s  %-19s %s\n", "split", "next offset", "end", "lag", "epoch", "generation",
              "moved at", "owner");
  for (const auto& row : sink.splits) {
    const auto text = [](const auto& value) { return value ? with_commas(static_cast<std::uint64_t>(*value)) : "-"; };
    const auto& entry = row.entry;
    std::printf("%-32s %14s %14s %12s %8s %10s  %-19s %s\n", to_string(row.split).c_str(),
                entry ? with_commas(static_cast<std::uint64_t>(entry->claim.position)).c_str() : "not started",
                text(row.end).c_str(), text(row.lag()).c_str(),
                entry ? std::to_string(number(entry->claim.epoch)).c_str() : "-",
                entry ? std::to_string(number(entry->claim.generation)).c_str() : "-",
                entry ? entry->updated_at.substr(0, 19).c_str() : "-",
                entry ? entry->owner.value_or("released").c_str() : "-");
  }
}

}  // namespace

int status_command(const JobArguments& arguments, bool json, const Log& log) {
  const format::Job job = format::read_job(arguments.file, arguments.overrides);
  const Wiring wiring = wire(job, nullptr, log);
  require_recovery_tables(wiring);
  const Positions ends = ends_of(wiring, log);
  Positions committed;
  if (job.guarantee != format::Guarantee::exactly_once) committed = wiring.source->committed_positions();
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const auto& wired : wiring.sinks) {
    SinkStatus sink{wired.name, splits_of(wired, ends, committed), wired.sink->letter_count(), {}};
    if (wiring.store) sink.prepared = wired.sink->prepared();
    json ? all.push_back(to_json(job, sink)) : print_table(job, sink);
  }
  if (json) std::cout << (all.size() == 1 ? all.front() : all).dump(2) << '\n';
  return done;
}

}  // namespace sluice::app
