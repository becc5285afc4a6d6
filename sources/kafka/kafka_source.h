// Records from Kafka topics. Readers are members of one consumer group, which is how a job scales out over tasks and
// processes; where a split goes on is decided by the sink's ledger, never by what the group has committed.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/api/log.h"
#include "core/api/source.h"
#include "core/model/ids.h"

namespace sluice {

// Where a split begins that the sink does not know.
enum class StartMode {
  earliest,
  latest,
  group_offsets,  // what the group has committed; the earliest offset where it has committed nothing
  timestamp,      // the first record that is not older than `start_timestamp_ms`; the end where there is none
  specific,       // `start_offsets`; a split that it lacks is an error
};

struct KafkaConfig {
  std::string bootstrap_servers;
  std::vector<std::string> topics;  // either these,
  std::string topics_regex;         // or every topic whose whole name matches this POSIX extended regular expression
  std::string group_id;
  StartMode start_mode = StartMode::earliest;
  bool resume_from_group = false;  // what the group has committed comes before the start mode
  std::int64_t start_timestamp_ms = 0;
  Positions start_offsets;
  std::chrono::milliseconds discovery_interval{5000};  // how soon new partitions and topics are seen
  // Task n joins as the static member "<prefix>-<n>": a process that comes back within session.timeout.ms goes on with
  // the same splits at once, even after kill -9. Must differ between processes of one job. Empty: dynamic membership.
  std::string group_instance_prefix;
  std::string client_id = "sluice";
  std::map<std::string, std::string> properties;  // straight to librdkafka, see check_kafka_properties()
  Log log;                                        // may be empty
};

// What is wrong with the properties: names that librdkafka does not know, values that it refuses, and names that Sluice
// sets itself because another value would break the guarantee. One sentence each, with the name and never with the
// value of a secret. Empty when all is well. Connects to nothing.
std::vector<std::string> check_kafka_properties(const std::map<std::string, std::string>& properties);

// Owns no connection; each reader and each query has its own. Any thread may call any method.
class KafkaSource final : public Source {
 public:
  // Throws Error(fatal) when the configuration cannot work, naming what to change.
  explicit KafkaSource(KafkaConfig config);

  std::unique_ptr<SourceReader> open_reader(std::size_t task) override;
  Findings inspect() override;
  TopicIds topic_ids() override;

  // Both ask the brokers, for at most 15 s. A topic that does not exist is Error(fatal), no answer Error(retryable).
  Positions end_positions() override;
  Positions begin_positions() override;
  Positions committed_positions() const override;

 private:
  Positions query_positions(std::int64_t offset_spec) const;

  KafkaConfig config_;
};

}  // namespace sluice
