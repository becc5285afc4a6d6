// `sluice savepoint`, and what `run --from` does with one.
#include "app/savepoint.h"

#include <algorithm>
#include <cstdio>
#include <ctime>

#include "app/commands.h"
#include "app/exit_code.h"
#include "core/format/job_reader.h"
#include "core/format/savepoint_text.h"
#include "core/model/error.h"
#include "stores/files/durable_files.h"

namespace sluice::app {

namespace fs = std::filesystem;

namespace {

constexpr auto file_name = "savepoint.json";

std::string now_text() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  char text[32];
  return {text, std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts)};
}

const DurableFiles files("A savepoint lies in a directory of its own that can be written");

}  // namespace

void start_from(const fs::path& directory, const Wiring& wiring, const Log& log) {
  const fs::path path = directory / file_name;
  const format::Savepoint savepoint = format::parse_savepoint(files.read(path), path.string());
  for (const auto& [name, splits] : savepoint.sinks) {
    const auto sink = std::find_if(wiring.sinks.begin(), wiring.sinks.end(),
                                   [&](const WiredSink& wired) { return wired.name == name; });
    if (sink == wiring.sinks.end()) {
      throw Error(Fault::fatal, path.string() + " is of a job with a sink \"" + name + "\", which this one has not");
    }
    sink->sink->begin_at(splits.positions, splits.topics);
    log(LogLevel::info, "the ledger is where the savepoint says",
        {{"sink", name}, {"splits", std::to_string(splits.positions.size())}});
  }
}

int savepoint_command(const JobArguments& arguments, const std::string& directory, const Log& log) {
  const format::Job job = format::read_job(arguments.file, arguments.overrides);
  if (job.guarantee != format::Guarantee::exactly_once) {
    throw format::JobError("sluice savepoint: group " + job.source.kafka.group_id +
                           " keeps the positions of this job (commit.protocol none), and Kafka's own "
                           "kafka-consumer-groups.sh saves and resets them");
  }
  const Wiring wiring = wire(job, nullptr, log);
  require_recovery_tables(wiring);
  format::Savepoint savepoint{job.name, {}};
  std::size_t splits = 0;
  for (const auto& wired : wiring.sinks) {
    format::SavedSplits& saved = savepoint.sinks[wired.name];
    for (const auto& [split, entry] : wired.sink->ledger()) {
      saved.positions.emplace(split, entry.claim.position);
      if (!entry.topic_id.empty()) saved.topics.emplace(split.topic, entry.topic_id);
    }
    splits += saved.positions.size();
  }
  if (splits == 0) {
    throw Error(Fault::fatal,
                "job " + job.name + " has no positions yet: there is nothing to save. Is its name right?");
  }
  const fs::path path = fs::path(directory) / file_name;
  files.make_folder(directory);
  if (!files.write_new(path, format::savepoint_text(savepoint, now_text()))) {
    throw Error(Fault::fatal, path.string() + " is there already, and is kept: name another directory");
  }
  std::printf("%s: %zu positions\n", path.c_str(), splits);
  return done;
}

}  // namespace sluice::app
