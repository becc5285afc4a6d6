#include "sources/kafka/kafka_source.h"

#include <utility>

#include "core/model/error.h"
#include "sources/kafka/client.h"
#include "sources/kafka/kafka_config.h"
#include "sources/kafka/kafka_reader.h"
#include "sources/kafka/offset_query.h"

namespace sluice {

namespace {

void require(bool condition, const std::string& problem) {
  if (!condition) throw Error(Fault::fatal, problem + " Correct the source in the job file.");
}

}  // namespace

KafkaSource::KafkaSource(KafkaConfig config) : config_(std::move(config)) {
  require(!config_.bootstrap_servers.empty(), "bootstrap.servers of the Kafka source is empty.");
  require(config_.topics.empty() != config_.topics_regex.empty(),
          "the Kafka source needs either topics or topics.regex, and not both.");
  for (const std::string& topic : config_.topics) {
    require(!topic.empty() && topic.front() != '^', "topics holds a name that no topic can have; use topics.regex.");
  }
  require(!config_.group_id.empty(), "group.id of the Kafka source is empty.");
  require(config_.start_mode != StartMode::timestamp || config_.start_timestamp_ms >= 0,
          "the timestamp to start from is negative.");
  // Finds a wrong property now and not when the first task opens its reader.
  kafka::member_conf(config_, 0);
}

std::unique_ptr<SourceReader> KafkaSource::open_reader(std::size_t task) {
  return std::make_unique<kafka::KafkaReader>(config_, task);
}

Findings KafkaSource::inspect() {
  Findings findings;
  // A member that joins nothing: librdkafka compares timeouts only when it is made.
  kafka::Client member{kafka::member_conf(config_, 0), kafka::client_name(config_, "check"), config_.log, {}};
  std::map<std::string, std::size_t> partitions;
  for (const Split& split : kafka::find_splits(member, config_)) ++partitions[split.topic];
  for (const auto& [topic, count] : partitions) {
    findings.push_back({Severity::ok, "topic " + topic + ": " + std::to_string(count) + " partitions", {}});
  }
  if (partitions.empty()) {
    findings.push_back({Severity::warning, "no topic matches topics.regex yet", "correct it, or create the topic"});
  }
  return findings;
}

Positions KafkaSource::end_positions() {
  return query_positions(RD_KAFKA_OFFSET_SPEC_LATEST);
}

Positions KafkaSource::begin_positions() {
  return query_positions(RD_KAFKA_OFFSET_SPEC_EARLIEST);
}

Positions KafkaSource::committed_positions() const {
  // A member of the group that joins nothing.
  kafka::Client client{kafka::member_conf(config_, 0), kafka::client_name(config_, "query"), config_.log, {}};
  return kafka::group_positions(client, config_, kafka::find_splits(client, config_));
}

TopicIds KafkaSource::topic_ids() {
  kafka::Client client{kafka::query_conf(config_), kafka::client_name(config_, "query"), config_.log, {}};
  return kafka::topic_ids(client, kafka::find_splits(client, config_));
}

Positions KafkaSource::query_positions(std::int64_t offset_spec) const {
  kafka::Client client{kafka::query_conf(config_), kafka::client_name(config_, "query"), config_.log, {}};
  return kafka::list_offsets(client, kafka::find_splits(client, config_), offset_spec);
}

}  // namespace sluice
