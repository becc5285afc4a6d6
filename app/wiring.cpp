#include "app/wiring.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "core/format/json_format.h"
#include "core/model/fingerprint.h"
#include "sinks/kafka/letter_topic.h"
#include "sinks/mysql/mysql_database.h"
#include "sinks/postgres/postgres_database.h"
#include "sinks/sqlite/sqlite_database.h"
#include "sources/file/file_source.h"
#include "sources/kafka/kafka_source.h"
#include "stores/directory/checkpoint_directory.h"
#include "stores/table/checkpoint_table.h"

namespace sluice::app {

using namespace std::chrono_literals;

namespace {

StartMode start_mode(format::StartMode mode) {
  switch (mode) {
    case format::StartMode::earliest_offset:
      return StartMode::earliest;
    case format::StartMode::latest_offset:
      return StartMode::latest;
    case format::StartMode::group_offsets:
      return StartMode::group_offsets;
    case format::StartMode::timestamp:
      return StartMode::timestamp;
    case format::StartMode::specific_offsets:
      return StartMode::specific;
  }
  return StartMode::earliest;
}

// The broker gives a static member that comes back what it had before, whatever it subscribes to now. So a job file
// with other topics must come back as another member.
std::string subscription(const format::KafkaSourceConfig& from) {
  std::string text = from.topics_regex;
  for (const auto& topic : from.topics) text += "\n" + topic;
  return fingerprint(text).substr(0, 8);
}

std::unique_ptr<Source> make_source(const format::Job& job, const Slot* slot, const Log& log) {
  if (job.source.type == format::SourceType::file) {
    return std::make_unique<FileSource>(FileConfig{job.source.file.paths, job.parallelism});
  }
  const format::KafkaSourceConfig& from = job.source.kafka;
  KafkaConfig config;
  config.bootstrap_servers = from.bootstrap_servers;
  config.topics = from.topics;
  config.topics_regex = from.topics_regex;
  config.group_id = from.group_id;
  config.start_mode = start_mode(from.start_mode);
  config.resume_from_group = job.guarantee != format::Guarantee::exactly_once;
  config.start_timestamp_ms = from.start_timestamp_ms;
  config.start_offsets = from.start_offsets;
  config.discovery_interval = from.discovery_interval;
  config.group_instance_prefix = slot == nullptr ? "" : slot->name() + "-" + subscription(from);
  config.client_id = "sluice-" + job.name;
  config.properties = from.properties;
  config.log = log;
  return std::make_unique<KafkaSource>(std::move(config));
}

// An epoch must fit into every timeout of its session.
std::chrono::milliseconds longest_epoch(const format::Job& job) {
  return job.checkpoint.interval + job.checkpoint.timeout;
}

// The group takes the splits of a member that does not poll; a call that is given up at half of that time leaves enough
// to start again.
std::chrono::milliseconds longest_call(const format::Job& job) {
  if (job.source.type != format::SourceType::kafka) return longest_epoch(job);
  const auto& properties = job.source.kafka.properties;
  const auto set = properties.find("max.poll.interval.ms");
  const std::int64_t poll_interval = set == properties.end() ? 300'000 : std::atoll(set->second.c_str());
  // Several sinks are waited for one behind the other, and so is a table of checkpoints.
  const bool table = job.checkpoint.store == format::CheckpointPlace::table;
  const auto sinks = static_cast<std::int64_t>(job.sinks.size()) + (table ? 1 : 0);
  return std::chrono::milliseconds(std::max<std::int64_t>(poll_interval / 2 / sinks, 1'000));
}

std::unique_ptr<sql::Database> make_database(const format::Job& job, const format::SinkConfig& sink) {
  if (sink.type == format::SinkType::sqlite) {
    std::string path = sink.connection_url.substr(std::string("sqlite:").size());
    if (path.starts_with("//")) path.erase(0, 2);  // sqlite:///path
    return std::make_unique<sqlite::SqliteDatabase>(
        sqlite::SqliteConfig{path, std::max<std::chrono::milliseconds>(5s, 2 * job.checkpoint.interval)});
  }
  if (sink.type == format::SinkType::mysql || sink.type == format::SinkType::mariadb) {
    return std::make_unique<mysql::MysqlDatabase>(
        mysql::MysqlConfig{sink.connection_url, std::chrono::duration_cast<std::chrono::seconds>(longest_call(job))});
  }
  postgres::PostgresConfig config;
  config.connection_url = sink.connection_url;
  config.application_name = ("sluice-" + job.name).substr(0, 63);  // more the server would cut, and say so
  config.statement_timeout = longest_epoch(job);
  return std::make_unique<postgres::PostgresDatabase>(std::move(config));
}

sql::MappingSettings mapping(const format::Job& job, const format::SinkConfig& sink) {
  sql::MappingSettings settings;
  settings.key_is_text = job.source.key_format == format::KeyFormat::string;
  settings.erases = sink.delete_enabled;
  settings.insert_mode =
      sink.insert_mode == format::InsertMode::upsert ? sql::InsertMode::upsert : sql::InsertMode::insert;
  settings.pk_fields = sink.pk_fields;
  settings.auto_create = sink.auto_create;
  if (sink.pk_mode == format::PkMode::record_value) settings.pk_mode = sql::PkMode::record_value;
  if (sink.pk_mode == format::PkMode::kafka) settings.pk_mode = sql::PkMode::kafka;
  if (sink.pk_mode == format::PkMode::record_key) settings.pk_mode = sql::PkMode::record_key;
  for (const auto& column : sink.columns) {
    settings.columns.push_back({column.name,
                                column.type.empty() ? std::nullopt : std::optional<std::string>(column.type),
                                column.from, column.by_name});
  }
  return settings;
}

RestartSettings restart(const format::RestartConfig& from) {
  using Strategy = RestartSettings::Strategy;
  RestartSettings settings;
  settings.attempts = from.attempts;
  settings.failures_max = from.failures_max;
  settings.interval = from.interval;
  settings.delay_max = from.max;
  settings.initial = from.delay;
  switch (from.strategy) {
    case format::RestartStrategy::none:
      settings.strategy = Strategy::none;
      break;
    case format::RestartStrategy::fixed_delay:
      settings.strategy = Strategy::fixed_delay;
      break;
    case format::RestartStrategy::failure_rate:
      settings.strategy = Strategy::failure_rate;
      break;
    case format::RestartStrategy::exponential_delay:
      settings.strategy = Strategy::exponential_delay;
      settings.initial = from.initial;
      break;
  }
  return settings;
}

bool accepts_lost_records(const format::Job& job) {
  return job.source.kafka.on_lost_records == format::OnLostRecords::skip;
}

Delivery delivery(format::Guarantee guarantee) {
  switch (guarantee) {
    case format::Guarantee::exactly_once:
      return Delivery::exactly_once;
    case format::Guarantee::at_least_once:
      return Delivery::at_least_once;
    case format::Guarantee::at_most_once:
      return Delivery::at_most_once;
  }
  return Delivery::exactly_once;
}

OnBadRecord on_bad_record(const format::ErrorsConfig& errors) {
  if (errors.tolerance == format::Tolerance::none) return OnBadRecord::stop;
  switch (errors.deadletter.to) {
    case format::DeadLetterConfig::To::table:
      return OnBadRecord::set_aside;
    case format::DeadLetterConfig::To::topic:
      return OnBadRecord::send;
    case format::DeadLetterConfig::To::none:
      return OnBadRecord::drop;
  }
  return OnBadRecord::stop;
}

}  // namespace

bool WiredSink::takes(const std::string& topic) const {
  return GroupMember{name, nullptr, topics, nullptr}.takes(topic);
}

Sink& Wiring::target() const {
  if (group) return *group;
  return sinks.front().target();
}

Sink& WiredSink::target() const {
  if (wal) return *wal;
  return *sink;
}

namespace {

WiredSink wire_sink(const format::Job& job, const format::SinkConfig& sink, const Log& log) {
  WiredSink wired{sink.name, sink.topics, sink.auto_create, nullptr, nullptr};
  sql::SqlSinkSettings settings;
  settings.job = job.name;
  settings.sink = sink.name;
  settings.table_name_format = sink.table_name_format;
  for (const auto& topic :
       job.source.type == format::SourceType::file ? job.source.file.paths : job.source.kafka.topics) {
    if (wired.takes(topic)) settings.topics.push_back(topic);
  }
  settings.tasks = job.parallelism;
  settings.keeps_ledger = sink.commit_protocol != format::CommitProtocol::none;
  settings.keeps_letters = on_bad_record(job.errors) == OnBadRecord::set_aside;
  settings.mapping = mapping(job, sink);
  settings.calls.limit = longest_call(job);
  settings.accept_lost_records = accepts_lost_records(job);
  wired.sink = std::make_unique<sql::SqlSink>(std::move(settings), make_database(job, sink), log);
  if (sink.commit_protocol == format::CommitProtocol::wal) {
    wired.wal = std::make_unique<WalSink>(*wired.sink, job.checkpoint.directory, job.name, sink.name, log);
  }
  return wired;
}

}  // namespace

namespace {

std::unique_ptr<CheckpointStore> make_store(const format::Job& job, const Log& log) {
  if (job.checkpoint.store == format::CheckpointPlace::directory) {
    return std::make_unique<CheckpointDirectory>(job.checkpoint.directory, job.name);
  }
  CheckpointTableSettings settings{job.name, job.parallelism, {}};
  // Its tasks are served one behind the other.
  settings.calls.limit = std::max<std::chrono::milliseconds>(longest_call(job) / job.parallelism, 1s);
  return std::make_unique<CheckpointTable>(std::move(settings), make_database(job, job.sinks.front()), log);
}

}  // namespace

Wiring wire(const format::Job& job, const Slot* slot, const Log& log) {
  Wiring wiring;
  wiring.source = make_source(job, slot, log);
  wiring.format = std::make_unique<JsonFormat>();
  std::vector<GroupMember> members;
  for (const auto& sink : job.sinks) {
    const WiredSink& wired = wiring.sinks.emplace_back(wire_sink(job, sink, log));
    members.push_back({wired.name, &wired.target(), wired.topics, wired.sink.get()});
  }
  const bool together = job.sinks.front().commit_protocol == format::CommitProtocol::prepared;
  if (together) wiring.store = make_store(job, log);
  if (together || members.size() > 1) {
    wiring.group = std::make_unique<SinkGroup>(std::move(members), wiring.store.get(), log);
  }
  return wiring;
}

void require_recovery_tables(const Wiring& wiring) {
  for (const auto& wired : wiring.sinks) {
    if (wired.sink->missing_migrations().empty()) continue;
    throw Error(Fault::fatal,
                "the recovery tables in " + wired.sink->database().name() +
                    " are missing or older than this program: `sluice migrate` or `sluice run` makes them");
  }
}

std::unique_ptr<LetterOutbox> wire_outbox(const format::Job& job, const Log& log) {
  if (on_bad_record(job.errors) != OnBadRecord::send) return nullptr;
  return std::make_unique<kafka::LetterTopic>(kafka::LetterTopicConfig{
      job.source.kafka.bootstrap_servers, job.errors.deadletter.topic, job.name, job.source.kafka.properties, log});
}

JobSettings job_settings(const format::Job& job, bool bounded, bool migrate) {
  JobSettings settings;
  settings.parallelism = job.parallelism;
  settings.epochs = {job.checkpoint.interval, job.checkpoint.min_pause, job.checkpoint.rows_max,
                     job.checkpoint.bytes_max};
  settings.restart = restart(job.restart);
  settings.restart.tolerated = job.checkpoint.tolerable_failures;
  settings.on_bad_record = on_bad_record(job.errors);
  settings.bad_share_max = job.errors.share_max;
  settings.accept_lost_records = accepts_lost_records(job);
  settings.delivery = delivery(job.guarantee);
  settings.bounded = bounded;
  settings.migrate = migrate;
  return settings;
}

}  // namespace sluice::app
