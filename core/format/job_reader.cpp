#include "core/format/job_reader.h"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <limits>
#include <regex>
#include <system_error>
#include <utility>

#include "core/format/job_checks.h"
#include "core/format/job_limits.h"
#include "core/format/job_overrides.h"
#include "core/format/job_section.h"
#include "core/format/quantity.h"

namespace sluice::format {

namespace {

constexpr std::size_t file_size_max = 1U << 20U;
constexpr std::int64_t parallelism_max = 256;

void read_start_offsets(SectionReader& section, Positions& into) {
  constexpr std::string_view key = "scan.startup.specific-offsets";
  for (const auto& [name, offset] : section.whole_map(key)) {
    const auto colon = name.rfind(':');
    const auto partition = colon == std::string::npos ? std::nullopt : parse_whole(name.substr(colon + 1));
    if (!partition || *partition < 0 || *partition > std::numeric_limits<std::int32_t>::max() || colon == 0) {
      section.problem(key, "holds the key \"" + name + "\"; write topic:partition, as in \"orders:0\"");
      continue;
    }
    into[{name.substr(0, colon), static_cast<std::int32_t>(*partition)}] = offset;
  }
}

void read_kafka(SectionReader& section, const std::string& job_name, KafkaSourceConfig& kafka) {
  kafka.group_id = "sluice-" + job_name;
  section.text("bootstrap.servers", kafka.bootstrap_servers);
  section.texts("topics", kafka.topics);
  section.text("topics.regex", kafka.topics_regex);
  section.text("group.id", kafka.group_id);
  section.choice("scan.startup.mode", start_mode_names, kafka.start_mode);
  section.whole("scan.startup.timestamp-millis", 0, std::numeric_limits<std::int64_t>::max(), kafka.start_timestamp_ms);
  read_start_offsets(section, kafka.start_offsets);
  section.choice("on.lost.records", on_lost_records_names, kafka.on_lost_records);
  section.duration("partition.discovery.interval", Zero::allowed, kafka.discovery_interval);
  kafka.properties = section.text_map("properties");
}

SourceConfig read_source(SectionReader section, const std::string& job_name) {
  SourceConfig source;
  section.require("type", "\"type\": \"kafka\"");
  section.choice("type", source_type_names, source.type);
  section.refuse_keys_of_others(to_string(source.type));
  section.choice("value.format", value_format_names, source.value_format);
  section.choice("key.format", key_format_names, source.key_format);
  if (source.type == SourceType::kafka) {
    read_kafka(section, job_name, source.kafka);
  } else {
    section.texts("path", source.file.paths);
  }
  if (section.good()) check(source, section);
  return source;
}

ColumnConfig read_column(SectionReader& section) {
  ColumnConfig column;
  section.require("name", "\"name\": \"id\"");
  section.text("name", column.name);
  section.text("type", column.type);
  std::string from;
  section.text("from", from);
  column.by_name = from.empty();
  if (from.empty()) {
    column.from.path = {column.name};
  } else if (auto source = CellSource::parse(from)) {
    column.from = std::move(*source);
  } else {
    section.problem("from",
                    "leads nowhere; write a path such as a.b.c, or one of @topic, @partition, @offset, "
                    "@timestamp, @key, @key.FIELD and @headers.NAME");
  }
  return column;
}

SinkConfig read_sink(SectionReader section, Guarantee guarantee) {
  SinkConfig sink;
  section.require("type", "\"type\": \"postgres\"");
  section.choice("type", sink_type_names, sink.type);
  sink.name = to_string(sink.type);
  section.text("name", sink.name);
  section.text("connection.url", sink.connection_url);
  section.texts("topics", sink.topics);
  section.text("table.name.format", sink.table_name_format);
  section.choice("insert.mode", insert_mode_names, sink.insert_mode);
  section.choice("pk.mode", pk_mode_names, sink.pk_mode);
  section.texts("pk.fields", sink.pk_fields);
  if (sink.pk_mode == PkMode::kafka && sink.pk_fields.empty()) {
    sink.pk_fields = {"__connect_topic", "__connect_partition", "__connect_offset"};
  }
  section.flag("delete.enabled", sink.delete_enabled);
  section.flag("auto.create", sink.auto_create);
  section.flag("auto.evolve", sink.auto_evolve);
  for (auto& entry : section.sections("columns")) {
    auto column = read_column(entry);
    const auto same = [&](const ColumnConfig& other) { return other.name == column.name; };
    if (entry.has("name") && std::any_of(sink.columns.begin(), sink.columns.end(), same)) {
      entry.problem("name", "is that of another column, too; remove one");
    }
    sink.columns.push_back(std::move(column));
  }
  if (guarantee != Guarantee::exactly_once) sink.commit_protocol = CommitProtocol::none;
  section.choice("commit.protocol", commit_protocol_names, sink.commit_protocol);
  if (section.good()) check(sink, section);
  return sink;
}

std::vector<SinkConfig> read_sinks(SectionReader& job, Guarantee guarantee) {
  std::vector<SinkConfig> sinks;
  if (job.has("sink") && job.has("sinks")) {
    job.problem("sinks", "stands beside \"sink\"; keep one of the two");
    return sinks;
  }
  if (!job.has("sinks")) job.require("sink", "\"sink\": {\"type\": \"postgres\", …}");
  if (auto section = job.section("sink")) sinks.push_back(read_sink(std::move(*section), guarantee));
  for (auto& section : job.sections("sinks")) {
    auto sink = read_sink(section, guarantee);
    const auto same = [&](const SinkConfig& other) { return other.name == sink.name; };
    if (std::any_of(sinks.begin(), sinks.end(), same)) {
      section.problem("name", "is that of another sink, too; give each its own \"name\"");
    }
    sinks.push_back(std::move(sink));
  }
  if (job.has("sinks") && job.good() && sinks.empty()) job.problem("sinks", "holds no sink; add one");
  return sinks;
}

void read_checkpoint(SectionReader section, CheckpointConfig& checkpoint) {
  constexpr auto max = std::numeric_limits<std::int64_t>::max();
  section.duration("interval", Zero::refused, checkpoint.interval);
  section.duration("timeout", Zero::refused, checkpoint.timeout);
  section.duration("min.pause", Zero::allowed, checkpoint.min_pause);
  if (!section.has("min.pause")) checkpoint.min_pause = std::min(checkpoint.min_pause, checkpoint.interval);
  section.whole("max.rows", 1, max, checkpoint.rows_max);
  section.size("max.bytes", checkpoint.bytes_max);
  section.whole("tolerable.failures", 0, max, checkpoint.tolerable_failures);
  section.choice("store", checkpoint_place_names, checkpoint.store);
  section.text("directory", checkpoint.directory);
  if (section.good()) check(checkpoint, section);
}

void read_restart(SectionReader section, RestartConfig& restart) {
  constexpr auto max = std::numeric_limits<std::int64_t>::max();
  section.choice("strategy", restart_strategy_names, restart.strategy);
  section.duration("initial", Zero::refused, restart.initial);
  section.duration("max", Zero::refused, restart.max);
  section.whole_or("attempts", "unlimited", 1, max, restart.attempts);
  section.duration("delay", Zero::allowed, restart.delay);
  section.whole("max.failures", 1, max, restart.failures_max);
  section.duration("interval", Zero::refused, restart.interval);
  if (section.good()) check(restart, section);
}

void read_errors(SectionReader section, ErrorsConfig& errors) {
  section.choice("tolerance", tolerance_names, errors.tolerance);
  section.share("max.share", errors.share_max);
  constexpr std::string_view topic_prefix = "topic:";
  std::string deadletter = "table";
  section.text("deadletter", deadletter);
  if (deadletter.starts_with(topic_prefix) && deadletter.size() > topic_prefix.size()) {
    errors.deadletter = {DeadLetterConfig::To::topic, deadletter.substr(topic_prefix.size())};
  } else if (deadletter == "none") {
    errors.deadletter.to = DeadLetterConfig::To::none;
  } else if (deadletter != "table") {
    section.problem("deadletter", "is none of its values; write one of: table, topic:NAME, none");
  }
}

bool reads(const KafkaSourceConfig& kafka, const std::string& topic) {
  if (std::find(kafka.topics.begin(), kafka.topics.end(), topic) != kafka.topics.end()) return true;
  if (kafka.topics_regex.empty()) return false;
  try {
    return std::regex_match(topic, std::regex(kafka.topics_regex, std::regex::extended));
  } catch (const std::regex_error&) {
    return false;  // said where the topics are looked for
  }
}

// A letter that comes back as a record would be refused again, and sent again.
void check_letter_topic(const Job& job, SectionReader& section) {
  if (job.errors.deadletter.to != DeadLetterConfig::To::topic) return;
  if (job.source.type != SourceType::kafka) {
    section.problem("errors",
                    "sends dead letters to a topic, but this source has no brokers; write \"deadletter\": \"table\"");
  } else if (reads(job.source.kafka, job.errors.deadletter.topic)) {
    section.problem("errors", "sends dead letters to a topic that the job reads itself; name another one");
  }
}

void check_sink_topics(const Job& job, const SinkConfig& sink, SectionReader& section) {
  if (job.source.type != SourceType::kafka) return;
  for (const auto& topic : sink.topics) {
    if (reads(job.source.kafka, topic)) continue;
    section.problem("sinks", "names the topic \"" + topic + "\" in the sink " + sink.name +
                                 ", which the source does not read; correct one of the two");
  }
}

// Positions are kept with the rows, or by the source: who asks for one and means the other would be surprised.
void check_guarantee(const Job& job, SectionReader& section) {
  const bool exactly_once = job.guarantee == Guarantee::exactly_once;
  for (const auto& sink : job.sinks) {
    const bool none = sink.commit_protocol == CommitProtocol::none;
    if (exactly_once && none) {
      section.problem(section.has("sinks") ? "sinks" : "sink",
                      "has \"commit.protocol\": \"none\", which keeps no positions with the rows; write "
                      "\"delivery.guarantee\": \"at-least-once\" or \"at-most-once\", or remove the protocol");
    } else if (!exactly_once && !none) {
      section.problem("delivery.guarantee", "is weaker than \"commit.protocol\": \"" +
                                                std::string(to_string(sink.commit_protocol)) +
                                                "\" gives; remove it, or write \"commit.protocol\": \"none\"");
    }
  }
  if (!exactly_once && job.source.type != SourceType::kafka) {
    section.problem("delivery.guarantee",
                    "leaves the positions to the source, and files keep none; write \"exactly-once\"");
  }
}

// A place that would stay empty is a misunderstanding of what is kept where.
void check_store(const Job& job, SectionReader& section) {
  if (job.sinks.empty()) return;
  const CommitProtocol protocol = job.sinks.front().commit_protocol;
  if (job.checkpoint.store == CheckpointPlace::directory || protocol == CommitProtocol::prepared) return;
  section.problem("checkpoint",
                  "keeps checkpoints in a table, but only \"commit.protocol\": \"prepared\" makes any (this is \"" +
                      std::string(to_string(protocol)) + "\"); remove \"store\"");
}

// Fields of the key need a format of the key.
void check_keys(const Job& job, SectionReader& section) {
  const KeyFormat format = job.source.key_format;
  const auto reads_fields = [](const ColumnConfig& column) { return column.from.from == CellSource::From::key_path; };
  for (const auto& sink : job.sinks) {
    if (sink.delete_enabled != job.sinks.front().delete_enabled) {
      section.problem("sinks", "have different values of \"delete.enabled\"; write the same for all");
    }
    const bool by_key = sink.pk_mode == PkMode::record_key;
    const bool fields = std::any_of(sink.columns.begin(), sink.columns.end(), reads_fields);
    if ((fields && format != KeyFormat::json) || (by_key && format == KeyFormat::none)) {
      section.problem("source", "says nothing of its keys, but sink " + sink.name +
                                    " takes fields from them; write \"key.format\": \"json\"" +
                                    (fields ? "" : ", or \"string\" where the key as a whole is the field"));
    } else if (by_key && format == KeyFormat::string && sink.pk_fields.size() > 1) {
      section.problem("source", "has keys of one text (\"key.format\": \"string\"), but \"pk.fields\" of sink " +
                                    sink.name + " names several columns; name one");
    }
  }
}

// What the sinks of a job must say together.
void check_sinks(const Job& job, SectionReader& section) {
  const char* const key = section.has("sinks") ? "sinks" : "sink";
  for (const auto& sink : job.sinks) {
    check_sink_topics(job, sink, section);
    if (sink.commit_protocol == job.sinks.front().commit_protocol) continue;
    section.problem(key,
                    "have different values of \"commit.protocol\"; write the same for all, since a checkpoint "
                    "decides for all of them or for none");
  }
}

Job read(SectionReader section) {
  Job job;
  section.require("name", "\"name\": \"orders\"");
  section.text("name", job.name);
  if (!job.name.empty() && !is_name(job.name)) section.problem("name", "is no name; use 1 to 64 of a-z 0-9 _ -");
  section.choice("delivery.guarantee", guarantee_names, job.guarantee);
  section.require("source", "\"source\": {\"type\": \"kafka\", …}");
  if (auto source = section.section("source")) job.source = read_source(std::move(*source), job.name);
  section.list("transforms");
  job.sinks = read_sinks(section, job.guarantee);
  section.whole("parallelism", 1, parallelism_max, job.parallelism);
  if (auto checkpoint = section.section("checkpoint")) read_checkpoint(std::move(*checkpoint), job.checkpoint);
  if (auto restart = section.section("restart")) read_restart(std::move(*restart), job.restart);
  if (auto errors = section.section("errors")) read_errors(std::move(*errors), job.errors);
  check_letter_topic(job, section);
  check_sinks(job, section);
  check_store(job, section);
  check_keys(job, section);
  check_guarantee(job, section);
  return job;
}

std::string file_text(const std::string& path) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) {
    throw JobError(path + ": is a directory; name the job file in it");
  }
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    throw JobError(path + ": cannot be opened (" + std::generic_category().message(errno) +
                   "); check the path and its rights");
  }
  std::string text(file_size_max + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  if (file.bad()) throw JobError(path + ": cannot be read; check the disk");
  if (text.size() > file_size_max) throw JobError(path + ": is larger than 1 MiB; is it a job file?");
  return text;
}

std::string line_of(const Problem& problem, const std::string& path) {
  const auto& place = problem.place;
  if (!place.override_path.empty()) return "--set " + place.override_path + ": " + problem.text;
  return path + ":" + std::to_string(place.line) + ":" + std::to_string(place.column) + ": " + problem.text;
}

void throw_if_any(std::vector<Problem>& problems, const std::string& path) {
  if (problems.empty()) return;
  std::stable_sort(problems.begin(), problems.end(),
                   [](const Problem& a, const Problem& b) { return a.place < b.place; });
  std::string lines;
  for (const auto& problem : problems) lines += (lines.empty() ? "" : "\n") + line_of(problem, path);
  throw JobError(lines);
}

}  // namespace

Job read_job(const std::string& path, const std::vector<std::string>& overrides) {
  Reading reading;
  reading.folder = std::filesystem::path(path).parent_path();
  auto tree = parse_json(file_text(path), reading.problems);
  throw_if_any(reading.problems, path);
  if (tree->kind != NodeKind::object) {
    reading.problem(tree->place, "a job is an object; put it in braces: {\"name\": …}");
    throw_if_any(reading.problems, path);
  }
  apply_overrides(*tree, overrides, reading.problems);
  auto job = read(SectionReader(*tree, job_keys(), "", "", reading));
  refuse_what_is_not_there_yet(reading);
  throw_if_any(reading.problems, path);
  return job;
}

}  // namespace sluice::format
