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

// Never over another one, and as a whole.
void write_new(const fs::path& path, const std::string& text) {
  const fs::path draft = path.string() + ".unfinished";
  const int file = ::open(draft.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (file < 0) fail("create", draft);
  const bool written =
      ::write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size()) && ::fsync(file) == 0;
  ::close(file);
  if (!written) fail("write", draft);
  const bool linked = ::link(draft.c_str(), path.c_str()) == 0;
  const int code = errno;
  ::unlink(draft.c_str());
  if (linked) return;
  if (code == EEXIST) {
    throw Error(Fault::fatal, path.string() + " is there already, and is kept: name another directory");
  }
  errno = code;
  fail("create", path);
}

}  // namespace

std::string savepoint_text(const Savepoint& savepoint, const std::string& taken_at) {
  ordered_json body{{"job", savepoint.job}, {"taken_at", taken_at}, {"sinks", ordered_json::array()}};
  for (const auto& [name, splits] : savepoint.sinks) {
    ordered_json sink{{"name", name}, {"positions", ordered_json::array()}};
    for (const auto& [split, position] : splits.positions) {
      sink["positions"].push_back({{"topic", split.topic}, {"partition", split.partition}, {"next_offset", position}});
    }
    sink["topic_ids"] = splits.topics;
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
      SavedSplits& splits = savepoint.sinks[sink.at("name")];
      splits.topics = sink.at("topic_ids").get<TopicIds>();
      for (const auto& one : sink.at("positions")) {
        splits.positions.emplace(Split{one.at("topic"), one.at("partition")}, one.at("next_offset"));
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
  Savepoint savepoint{job.name, {}};
  std::size_t splits = 0;
  for (const auto& wired : wiring.sinks) {
    SavedSplits& saved = savepoint.sinks[wired.name];
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
  std::error_code error;
  fs::create_directories(directory, error);
  if (error) throw Error(Fault::fatal, "cannot make " + directory + ": " + error.message());
  write_new(fs::path(directory) / file_name, savepoint_text(savepoint, now_text()));
  std::printf("%s: %zu positions\n", (fs::path(directory) / file_name).c_str(), splits);
  return done;
}

}  // namespace sluice::app
