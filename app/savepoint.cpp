// `sluice savepoint`, and what `run --from` does with one.
#include "app/savepoint.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "app/commands.h"
#include "app/exit_code.h"
#include "core/format/job_reader.h"
#include "core/model/error.h"
#include "core/model/fingerprint.h"

namespace sluice::app {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

namespace {

constexpr auto file_name = "savepoint.json";

std::string now_text() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  char text[32];
  return {text, std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts)};
}

[[noreturn]] void fail(const std::string& what, const fs::path& path) {
  throw Error(Fault::fatal, "cannot " + what + " " + path.string() + ": " + std::strerror(errno));
}

// Never over another one.
void write_new(const fs::path& path, const std::string& text) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  if (file < 0 && errno == EEXIST) {
    throw Error(Fault::fatal, path.string() + " is there already, and is kept: name another directory");
  }
  if (file < 0) fail("create", path);
  const bool written =
      ::write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size()) && ::fsync(file) == 0;
  ::close(file);
  if (!written) fail("write", path);
}

std::string range(const Split& split, std::int64_t ledger, std::int64_t savepoint) {
  return to_string(split) + " is at " + std::to_string(ledger) + ", and the savepoint says " +
         std::to_string(savepoint);
}

}  // namespace

std::string savepoint_text(const Savepoint& savepoint, const std::string& taken_at) {
  ordered_json body{{"job", savepoint.job}, {"taken_at", taken_at}, {"sinks", ordered_json::array()}};
  for (const auto& [name, positions] : savepoint.sinks) {
    ordered_json sink{{"name", name}, {"positions", ordered_json::array()}};
    for (const auto& [split, position] : positions) {
      sink["positions"].push_back({{"topic", split.topic}, {"partition", split.partition}, {"next_offset", position}});
    }
    body["sinks"].push_back(std::move(sink));
  }
  const std::string text = body.dump();
  return ordered_json{{"version", 1}, {"checksum", fingerprint(text)}, {"savepoint", body}}.dump(2) + "\n";
}

Savepoint parse_savepoint(const std::string& text, const std::string& where) {
  try {
    const auto whole = ordered_json::parse(text);
    const auto& body = whole.at("savepoint");
    if (whole.at("version") != 1) throw std::runtime_error("it is of another version");
    if (whole.at("checksum") != fingerprint(body.dump())) throw std::runtime_error("its checksum does not fit");
    Savepoint savepoint;
    savepoint.job = body.at("job");
    for (const auto& sink : body.at("sinks")) {
      Positions& positions = savepoint.sinks[sink.at("name")];
      for (const auto& one : sink.at("positions")) {
        positions.emplace(Split{one.at("topic"), one.at("partition")}, one.at("next_offset"));
      }
    }
    return savepoint;
  } catch (const std::exception& error) {
    throw Error(Fault::fatal, where + " is no savepoint of this program: " + error.what());
  }
}

void start_from(const fs::path& directory, const Wiring& wiring, const Log& log) {
  const fs::path path = directory / file_name;
  std::ifstream in(path);
  if (!in) fail("read", path);
  std::stringstream text;
  text << in.rdbuf();
  const Savepoint savepoint = parse_savepoint(text.str(), path.string());
  std::map<const WiredSink*, Positions> moves;
  for (const auto& [name, positions] : savepoint.sinks) {
    const auto sink = std::find_if(wiring.sinks.begin(), wiring.sinks.end(),
                                   [&](const WiredSink& wired) { return wired.name == name; });
    if (sink == wiring.sinks.end()) {
      throw Error(Fault::fatal, path.string() + " is of a job with a sink \"" + name + "\", which this one has not");
    }
    const Positions ledger = sink->sink->positions();
    for (const auto& [split, position] : positions) {
      const auto known = ledger.find(split);
      if (known == ledger.end()) {
        moves[&*sink].emplace(split, position);
      } else if (known->second != position) {
        throw Error(Fault::fatal,
                    "the ledger of sink " + name + " knows this job already: " + range(split, known->second, position) +
                        ". Starting there would write records twice, or never. Nothing was moved. `sluice offsets "
                        "--set` moves a ledger; run without --from goes on where the ledger says");
      }
    }
  }
  for (const auto& [sink, positions] : moves) {
    sink->sink->set_positions(positions);
    log(LogLevel::info, "the ledger begins where the savepoint says",
        {{"sink", sink->name}, {"splits", std::to_string(positions.size())}});
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
  Savepoint savepoint{job.name, {}};
  std::size_t splits = 0;
  for (const auto& wired : wiring.sinks) {
    splits += savepoint.sinks.emplace(wired.name, wired.sink->positions()).first->second.size();
  }
  std::error_code error;
  fs::create_directories(directory, error);
  if (error) throw Error(Fault::fatal, "cannot make " + directory + ": " + error.message());
  write_new(fs::path(directory) / file_name, savepoint_text(savepoint, now_text()));
  std::printf("%s: %zu positions\n", (fs::path(directory) / file_name).c_str(), splits);
  return done;
}

}  // namespace sluice::app
