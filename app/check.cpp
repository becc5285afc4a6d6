// `sluice check`: connects to everything, changes nothing, says which guarantee the job gets and what stands in its
// way.
#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "app/check_report.h"
#include "app/commands.h"
#include "app/exit_code.h"
#include "app/status_line.h"
#include "app/wiring.h"
#include "core/format/job_reader.h"
#include "core/model/error.h"
#include "core/protocol/surprise.h"
#include "stores/directory/inspect.h"

namespace sluice::app {

namespace {

std::string source_name(const format::Job& job) {
  if (job.source.type == format::SourceType::file) return "source: file";
  return "source: Kafka at " + job.source.kafka.bootstrap_servers + ", group " + job.source.kafka.group_id;
}

// Asked once, and before any ledger: while the job runs, the group follows the ledgers.
struct SourceState {
  Positions begins;
  Positions ends;
  Positions group;
  TopicIds topics;
};

// Nothing: the source must be mended before positions can be looked at.
std::optional<SourceState> check_source(const format::Job& job, const Wiring& wiring, CheckReport& report) {
  const std::size_t before = report.count(Severity::problem);
  SourceState state;
  report.part(source_name(job));
  report.look([&] {
    report.add(wiring.source->inspect());
    state.ends = wiring.source->end_positions();
    state.begins = wiring.source->begin_positions();
    state.group = wiring.source->committed_positions();
    state.topics = wiring.source->topic_ids();
    const std::size_t splits = state.ends.size();
    if (job.parallelism > splits) {
      report.add(Severity::note,
                 "parallelism " + std::to_string(job.parallelism) + " is more than the " + std::to_string(splits) +
                     " splits of the source: the tasks beyond have nothing to do",
                 "set \"parallelism\" to " + std::to_string(std::max<std::size_t>(splits, 1)));
    }
  });
  if (report.count(Severity::problem) > before) return std::nullopt;
  return state;
}

// Where the ledger stands in the log. Without one, the job begins as its start mode says.
void check_position(const Split& split, std::int64_t position, std::int64_t begin, std::int64_t end,
                    const std::string& moves, CheckReport& report) {
  const std::string place = to_string(split) + " is at " + std::to_string(position);
  const std::string log = "the log holds " + std::to_string(begin) + " to " + std::to_string(end);
  if (position < begin) {
    report.add(Severity::problem,
               place + ", " + log + ": records " + std::to_string(position) + " to " + std::to_string(begin - 1) +
                   " were deleted before they were read",
               moves);
  } else if (position > end) {
    report.add(Severity::problem, place + ", " + log + ": the topic lost its end or was created again", moves);
  } else if (begin > 0 && end > position && position - begin < (end - begin) / 10) {
    report.add(Severity::warning, place + ", " + log + ": retention is about to delete records that were not read yet",
               "run the job, and raise the topic's retention.ms or retention.bytes");
  }
}

// What `run` would stop at.
void check_for_surprises(const format::Job& job, const SourceState& source, const WiredSink& to,
                         const std::map<Split, sql::LedgerEntry>& ledger, CheckReport& report) {
  TakeOverFacts facts;
  facts.group = source.group;
  facts.topics = source.topics;
  for (const auto& [split, entry] : ledger) facts.ledger.emplace(split, sql::known_from(entry));
  const auto mode = job.source.kafka.start_mode;
  if (mode == format::StartMode::earliest_offset) facts.starts = source.begins;
  if (mode == format::StartMode::latest_offset) facts.starts = source.ends;
  std::vector<Split> splits;
  for (const auto& [split, end] : source.ends) {
    if (to.takes(split.topic)) splits.push_back(split);
  }
  const bool skips = job.source.kafka.on_lost_records == format::OnLostRecords::skip;
  const auto found = surprises(splits, facts);
  for (const Surprise& one : found) {
    report.add(skips ? Severity::warning : Severity::problem, one.text, next_step(found));
  }
}

void check_positions(const format::Job& job, const SourceState& source, const WiredSink& to, CheckReport& report) {
  const bool by_sink = job.guarantee == format::Guarantee::exactly_once;
  Positions positions = source.group;
  if (by_sink) {
    const auto ledger = to.sink->ledger();
    check_for_surprises(job, source, to, ledger, report);
    positions.clear();
    for (const auto& [split, entry] : ledger) positions.emplace(split, entry.claim.position);
  }
  const std::string moves = std::string("decide with ") +
                            (by_sink ? "`sluice offsets`" : "Kafka's own kafka-consumer-groups.sh") +
                            ", or \"on.lost.records\": \"skip\" in the source";
  std::int64_t lag = 0;
  for (const auto& [split, end] : source.ends) {
    const auto begin = source.begins.find(split);
    const auto known = positions.find(split);
    if (begin == source.begins.end() || !to.takes(split.topic)) continue;
    const std::int64_t position = known == positions.end() ? begin->second : known->second;
    lag += std::max<std::int64_t>(0, end - std::max(position, begin->second));
    if (known != positions.end()) check_position(split, position, begin->second, end, moves, report);
  }
  report.add(Severity::ok, with_commas(static_cast<std::uint64_t>(lag)) + " records to read");
  if (const auto letters = to.sink->letter_count(); letters > 0) {
    report.add(Severity::note, with_commas(letters) + " dead letters", "look at them with `sluice dead-letters`");
  }
}

void check_two_phase(sql::SqlSink& sink, CheckReport& report) {
  try {
    sink.require_two_phase();
    if (const auto count = sink.prepared().size(); count > 0) {
      report.add(Severity::note, std::to_string(count) + " prepared transactions of this job wait for their end",
                 "the next start settles them; `sluice recover` shows them");
    }
  } catch (const Error& error) {
    report.add(Severity::problem, error.what());
  }
}

enum class Reached { nothing, database, ledger };

Reached check_sink(const format::Job& job, const Wiring& wiring, const WiredSink& to,
                   const std::optional<SourceState>& source, CheckReport& report) {
  Reached reached = Reached::nothing;
  report.part("sink: " + to.sink->database().name());
  report.look([&] {
    report.add(to.sink->inspect());
    reached = Reached::database;
    if (wiring.store) check_two_phase(*to.sink, report);
    const auto missing = to.sink->missing_migrations();
    if (missing.empty()) {
      reached = Reached::ledger;
      if (source) check_positions(job, *source, to, report);
      return;
    }
    const bool no_ledger = missing.size() == to.sink->database().migrations().size();
    if (source && no_ledger && job.guarantee == format::Guarantee::exactly_once) {
      check_for_surprises(job, *source, to, {}, report);
    }
    report.add(Severity::note,
               "the recovery tables are missing or not up to date; `sluice run` or `sluice migrate` makes them");
  });
  return reached;
}

// Where checkpoints decide, or epochs wait.
void check_directory(const format::Job& job, const Wiring& wiring, CheckReport& report) {
  const bool epochs =
      std::any_of(wiring.sinks.begin(), wiring.sinks.end(), [](const auto& to) { return to.wal != nullptr; });
  if (!wiring.store && !epochs) return;
  const bool table = job.checkpoint.store == format::CheckpointPlace::table;
  report.part(table ? "checkpoints: " + wiring.store->name() : "checkpoint directory");
  report.look([&] {
    if (!table) report.add(inspect_directory(job.checkpoint.directory, wiring.store != nullptr));
    if (table && !wiring.sinks.front().sink->missing_migrations().empty()) return;  // which the sink's part says
    // Throws where what is there was not written by this program.
    const std::size_t tasks = wiring.store ? wiring.store->newest().size() : 0;
    if (table) report.add(Severity::ok, "checkpoints of " + std::to_string(tasks) + " tasks");
  });
}

void check_table(const WiredSink& to, const std::string& topic, Reached reached, CheckReport& report) {
  const std::string table = to.sink->table_for(topic);
  report.part("table: " + table);
  report.look([&] {
    if (reached == Reached::ledger) report.add(to.sink->inspect_memory(topic));
    report.add(to.sink->inspect_table(topic));
    if (const auto binding = to.sink->existing_binding(topic)) {
      report.add(CheckedTable{topic, table, *binding});
    } else if (to.auto_create) {
      report.add(Severity::note, "does not exist yet and will be created (auto.create)");
    } else {
      report.add(Severity::problem, "does not exist in " + to.sink->database().name(),
                 "create it, or set \"auto.create\": true");
    }
  });
}

// What becomes of records that cannot be written belongs to the guarantee.
std::string about_bad_records(const format::ErrorsConfig& errors) {
  if (errors.tolerance == format::Tolerance::none) return "A record that cannot be written stops the job.";
  switch (errors.deadletter.to) {
    case format::DeadLetterConfig::To::table:
      return "Records that cannot be written go to sluice_dead_letters, in the transaction of the rows.";
    case format::DeadLetterConfig::To::topic:
      return "Records that cannot be written go to topic " + errors.deadletter.topic +
             ", at least once: one may be there twice after a crash.";
    case format::DeadLetterConfig::To::none:
      return "Records that cannot be written are DROPPED (errors.deadletter none).";
  }
  return {};
}

// Of a job whose positions the source keeps.
std::string about_source_positions(const format::Job& job) {
  if (job.guarantee == format::Guarantee::at_most_once) {
    return "Positions are committed to group " + job.source.kafka.group_id +
           " before the rows are: a crash between the two loses the rows of that epoch (commit.protocol none). ";
  }
  const bool upserts = std::all_of(job.sinks.begin(), job.sinks.end(), [](const format::SinkConfig& sink) {
    return sink.insert_mode == format::InsertMode::upsert;
  });
  return "Positions are committed to group " + job.source.kafka.group_id +
         " after the rows are: a crash between the two writes the rows of that epoch again (commit.protocol none). " +
         (upserts ? "Upsert by a key makes that effectively once: a row that comes again replaces itself, though "
                    "for a moment an older state of it may show. "
                  : "Rows without a key are then there twice. ");
}

std::string about_commits(const format::Job& job) {
  if (job.guarantee != format::Guarantee::exactly_once) return about_source_positions(job);
  const format::CommitProtocol protocol = job.sinks.front().commit_protocol;
  const bool together = protocol == format::CommitProtocol::prepared;
  std::string text =
      protocol == format::CommitProtocol::wal
          ? "The rows of an epoch wait in a file in \"" + job.checkpoint.directory +
                "\"; one transaction of the target applies it together with the positions (commit.protocol wal), "
                "fenced by generation. "
      : together
          ? "Rows and positions are prepared in one transaction of each target and committed when the checkpoint in " +
                (job.checkpoint.store == format::CheckpointPlace::table ? "the first one's table sluice_checkpoints"
                                                                        : "\"" + job.checkpoint.directory + "\"") +
                " is durable (commit.protocol prepared), fenced by generation. One process at a time runs this job. "
          : "Rows and positions move in one transaction of the target (commit.protocol ledger), fenced by "
            "generation. ";
  if (job.sinks.size() > 1) {
    text += together ? "The sinks show every epoch or will. "
                     : "Each sink by itself: one may show an epoch before another does. ";
  }
  return text;
}

void decide(const format::Job& job, CheckReport& report) {
  const std::size_t problems = report.count(Severity::problem);
  if (problems > 0) {
    return report.guarantee("no guarantee",
                            std::to_string(problems) + (problems == 1 ? " problem" : " problems") + " below");
  }
  std::string lost;
  if (job.source.kafka.on_lost_records == format::OnLostRecords::skip) {
    lost = " Records that are gone from the log are skipped with a warning (on.lost.records).";
  }
  report.guarantee(std::string(format::to_string(job.guarantee)),
                   about_commits(job) + about_bad_records(job.errors) + lost);
}

}  // namespace

int check_command(const JobArguments& arguments, bool json, const Log& log) {
  const format::Job job = format::read_job(arguments.file, arguments.overrides);
  CheckReport report(job.name);
  report.part("job file");
  report.look([&] {
    const Wiring wiring = wire(job, nullptr, log);
    const auto source = check_source(job, wiring, report);
    check_directory(job, wiring, report);
    const auto& topics = job.source.type == format::SourceType::file ? job.source.file.paths : job.source.kafka.topics;
    for (const auto& to : wiring.sinks) {
      const Reached reached = check_sink(job, wiring, to, source, report);
      if (reached == Reached::nothing) continue;
      for (const auto& topic : topics) {
        if (to.takes(topic)) check_table(to, topic, reached, report);
      }
    }
  });
  decide(job, report);
  json ? report.print_json() : report.print_page();
  return report.count(Severity::problem) > 0 ? check_found_a_problem : done;
}

}  // namespace sluice::app
