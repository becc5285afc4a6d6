// `sluice offsets`: the ledger's positions, shown and moved.
#include <algorithm>
#include <charconv>
#include <cstdio>

#include "app/commands.h"
#include "app/exit_code.h"
#include "app/wiring.h"
#include "core/format/job_overrides.h"
#include "core/format/job_reader.h"
#include "core/model/error.h"

namespace sluice::app {

namespace {

[[noreturn]] void refuse(const std::string& what) {
  throw format::JobError("sluice offsets: " + what);
}

// "orders:3=4711"
std::pair<Split, std::int64_t> parse_move(const std::string& text) {
  const auto equals = text.rfind('=');
  const auto colon = equals == std::string::npos ? equals : text.rfind(':', equals);
  Split split;
  std::int64_t offset = -1;
  const auto whole = [&](std::size_t from, std::size_t to, auto& into) {
    const auto parsed = std::from_chars(text.data() + from, text.data() + to, into);
    return parsed.ec == std::errc() && parsed.ptr == text.data() + to;
  };
  const bool fits = colon != std::string::npos && colon > 0 && whole(colon + 1, equals, split.partition) &&
                    whole(equals + 1, text.size(), offset) && split.partition >= 0 && offset >= 0;
  if (!fits)
    refuse("--set " + text + " is neither TOPIC:PARTITION=OFFSET, as in orders:3=4711, nor a key of the job file");
  split.topic = text.substr(0, colon);
  return {split, offset};
}

Positions wanted(const OffsetsArguments& what, const Positions& begins, const Positions& ends) {
  Positions to;
  if (!what.reset.empty()) to = what.reset == "latest" ? ends : begins;
  for (const std::string& text : what.set) {
    const auto [split, offset] = parse_move(text);
    const auto begin = begins.find(split);
    const auto end = ends.find(split);
    if (begin == begins.end() || end == ends.end()) refuse(to_string(split) + " is not among what the job reads");
    if (offset < begin->second || offset > end->second) {
      refuse("the log of " + to_string(split) + " holds " + std::to_string(begin->second) + " to " +
             std::to_string(end->second) + ", so that it cannot be set to " + std::to_string(offset));
    }
    to[split] = offset;
  }
  return to;
}

std::string text_or_dash(const Positions& positions, const Split& split) {
  const auto found = positions.find(split);
  return found == positions.end() ? "-" : std::to_string(found->second);
}

void print(const std::map<Split, sql::LedgerEntry>& ledger, const Positions& begins, const Positions& ends) {
  std::printf("%-32s %14s %14s %14s %10s\n", "split", "next offset", "log begins", "log ends", "generation");
  for (const auto& [split, end] : ends) {
    const auto entry = ledger.find(split);
    const bool known = entry != ledger.end();
    std::printf("%-32s %14s %14s %14s %10s\n", to_string(split).c_str(),
                known ? std::to_string(entry->second.claim.position).c_str() : "not started",
                text_or_dash(begins, split).c_str(), std::to_string(end).c_str(),
                known ? std::to_string(number(entry->second.claim.generation)).c_str() : "-");
  }
  for (const auto& [split, entry] : ledger) {
    if (!ends.contains(split)) {
      std::printf("%-32s %14lld %14s %14s %10llu  (not read by this job file)\n", to_string(split).c_str(),
                  static_cast<long long>(entry.claim.position), "-", "-",
                  static_cast<unsigned long long>(number(entry.claim.generation)));
    }
  }
}

std::string range(std::int64_t from, std::int64_t to) {
  return std::to_string(from) + " to " + std::to_string(to - 1);
}

void move(const WiredSink& wired, const Positions& all, const Positions& begins) {
  Positions to;
  for (const auto& [split, position] : all) {
    if (wired.takes(split.topic)) to.emplace(split, position);
  }
  if (to.empty()) return;
  const auto before = wired.sink->ledger();
  wired.sink->set_positions(to);
  for (const auto& [split, position] : to) {
    const auto old = before.find(split);
    const bool known = old != before.end();
    const auto begin = begins.find(split);
    const std::int64_t from = known ? old->second.claim.position : begin == begins.end() ? position : begin->second;
    std::string effect;
    if (position > from) effect = "  records " + range(from, position) + " will never be written";
    if (position < from && known) effect = "  records " + range(position, from) + " will be written again";
    std::printf("%s: %s -> %lld%s\n", to_string(split).c_str(), known ? std::to_string(from).c_str() : "not started",
                static_cast<long long>(position), effect.c_str());
  }
}

}  // namespace

int offsets_command(const JobArguments& arguments, OffsetsArguments what, const Log& log) {
  // --set overrides keys of the job file everywhere; no path of a key has a colon.
  std::vector<std::string> overrides;
  for (const std::string& text : arguments.overrides) {
    const std::string name = text.substr(0, text.find('='));
    const bool key = name != text && name.find(':') == std::string::npos && format::is_path(name);
    (key ? overrides : what.set).push_back(text);
  }
  const format::Job job = format::read_job(arguments.file, overrides);
  const Wiring wiring = wire(job, nullptr, log);
  require_recovery_tables(wiring);
  const Positions begins = wiring.source->begin_positions();
  const Positions ends = wiring.source->end_positions();
  const Positions to = wanted(what, begins, ends);
  if (job.guarantee != format::Guarantee::exactly_once) {
    if (!to.empty()) {
      refuse("group " + job.source.kafka.group_id +
             " keeps the positions of this job (commit.protocol none): stop it, and move them with Kafka's own "
             "kafka-consumer-groups.sh --reset-offsets");
    }
    std::map<Split, sql::LedgerEntry> positions;
    for (const auto& [split, position] : wiring.source->committed_positions())
      positions[split].claim.position = position;
    print(positions, begins, ends);
    return done;
  }
  const auto is_meant = [&](const WiredSink& wired) { return what.sink.empty() || wired.name == what.sink; };
  if (std::none_of(wiring.sinks.begin(), wiring.sinks.end(), is_meant)) {
    refuse("--sink " + what.sink + " is no sink of this job");
  }
  if (!to.empty() && wiring.sinks.size() > 1 && what.sink.empty()) {
    refuse("this job has several sinks, each with positions of its own: say with --sink NAME which one to move");
  }
  for (const auto& wired : wiring.sinks) {
    if (!is_meant(wired)) continue;
    if (wiring.sinks.size() > 1) std::printf("sink %s\n", wired.name.c_str());
    to.empty() ? print(wired.sink->ledger(), begins, ends) : move(wired, to, begins);
  }
  if (!to.empty()) {
    std::puts(
        "Rows stay as they are. If that is not what you meant, move the position back now. A process that runs this "
        "job is fenced: it ends with code 3 at its next commit.");
  }
  return done;
}

}  // namespace sluice::app
