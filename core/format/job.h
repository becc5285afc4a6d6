// What a job file says, as plain values. docs/job-file.md tells users what each key means.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/ids.h"
#include "core/model/schema.h"

namespace sluice::format {

enum class Guarantee { exactly_once, at_least_once, at_most_once };
enum class SourceType { kafka, file };
enum class StartMode { earliest_offset, latest_offset, group_offsets, timestamp, specific_offsets };
enum class ValueFormat { json, json_schema, debezium_json, avro, csv, string, raw };
enum class KeyFormat { none, json, json_schema, avro, string, raw };
enum class SinkType { postgres, mysql, mariadb, sqlite, kafka, file };
enum class InsertMode { insert, upsert, update };
enum class PkMode { none, kafka, record_key, record_value, record_header };
enum class CommitProtocol { ledger, prepared, wal, none };
enum class RestartStrategy { exponential_delay, fixed_delay, failure_rate, none };
enum class Tolerance { none, all };
// What to do when the log, the ledger or the table is not what it was.
enum class OnLostRecords { fail, skip };

// Each as the job file spells it.
std::string_view to_string(Guarantee value);
std::string_view to_string(SourceType value);
std::string_view to_string(StartMode value);
std::string_view to_string(ValueFormat value);
std::string_view to_string(KeyFormat value);
std::string_view to_string(SinkType value);
std::string_view to_string(InsertMode value);
std::string_view to_string(PkMode value);
std::string_view to_string(CommitProtocol value);
std::string_view to_string(RestartStrategy value);
std::string_view to_string(Tolerance value);
std::string_view to_string(OnLostRecords value);

struct KafkaSourceConfig {
  std::string bootstrap_servers;
  std::vector<std::string> topics;  // empty: topics_regex is set
  std::string topics_regex;         // empty: topics is set
  std::string group_id;
  // Where a split begins that the ledger does not know; for the others the ledger alone decides.
  StartMode start_mode = StartMode::earliest_offset;
  std::int64_t start_timestamp_ms = 0;  // StartMode::timestamp
  Positions start_offsets;              // StartMode::specific_offsets
  OnLostRecords on_lost_records = OnLostRecords::fail;
  std::chrono::milliseconds discovery_interval{5000};  // 0: new partitions are not looked for
  std::map<std::string, std::string> properties;       // for librdkafka, not checked here; may hold secrets
};

struct FileSourceConfig {
  std::vector<std::string> paths;  // as written: relative ones start at the working directory
};

struct SourceConfig {
  SourceType type = SourceType::kafka;
  KafkaSourceConfig kafka;  // when type is kafka
  FileSourceConfig file;    // when type is file
  ValueFormat value_format = ValueFormat::json;
  KeyFormat key_format = KeyFormat::none;
};

struct ColumnConfig {
  std::string name;
  std::string type;  // as the database spells it; empty: the table's own, or one inferred from a sample
  CellSource from;
  bool by_name = false;  // "from" was left out
};

struct SinkConfig {
  std::string name;  // part of the ledger's key
  SinkType type = SinkType::postgres;
  std::string connection_url;       // holds the password: show it through redact() only
  std::vector<std::string> topics;  // of the source that go there; empty: all
  std::string table_name_format = "${topic}";
  InsertMode insert_mode = InsertMode::insert;
  PkMode pk_mode = PkMode::none;
  // Column names. PkMode::kafka: those of topic, partition and offset, in this order.
  std::vector<std::string> pk_fields;
  bool delete_enabled = false;
  bool auto_create = true;
  bool auto_evolve = false;
  std::vector<ColumnConfig> columns;  // empty: by name, from the table
  CommitProtocol commit_protocol = CommitProtocol::ledger;
};

// Where the checkpoints of commit.protocol prepared are kept.
enum class CheckpointPlace {
  directory,
  table,  // in the database of the first sink
};

struct CheckpointConfig {
  std::chrono::milliseconds interval{1000};
  std::chrono::milliseconds timeout{600'000};
  std::chrono::milliseconds min_pause{5};  // never above the interval
  std::uint64_t rows_max = 1'000'000;
  std::uint64_t bytes_max = 256ULL << 20U;
  std::uint64_t tolerable_failures = 0;
  CheckpointPlace store = CheckpointPlace::directory;
  std::string directory = "state";  // as written: a relative one starts at the working directory
};

struct RestartConfig {
  RestartStrategy strategy = RestartStrategy::exponential_delay;
  std::chrono::milliseconds initial{500};      // exponential_delay
  std::chrono::milliseconds max{30'000};       // exponential_delay
  std::optional<std::uint64_t> attempts;       // exponential_delay, fixed_delay; nothing: unlimited
  std::chrono::milliseconds delay{1000};       // fixed_delay, failure_rate
  std::uint64_t failures_max = 3;              // failure_rate: more than these within the interval end the job
  std::chrono::milliseconds interval{60'000};  // failure_rate
};

struct DeadLetterConfig {
  enum class To { table, topic, none };
  To to = To::table;
  std::string topic;  // To::topic
};

struct ErrorsConfig {
  Tolerance tolerance = Tolerance::none;
  DeadLetterConfig deadletter;
  double share_max = 0.5;  // of the last records; more bad ones than that stop the job
};

struct Job {
  std::string name;  // [a-z0-9_-]{1,64}; identity of the ledger rows
  Guarantee guarantee = Guarantee::exactly_once;
  SourceConfig source;
  std::vector<SinkConfig> sinks;  // never empty, names differ
  std::size_t parallelism = 1;
  CheckpointConfig checkpoint;
  RestartConfig restart;
  ErrorsConfig errors;
};

}  // namespace sluice::format
