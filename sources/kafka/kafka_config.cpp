#include "sources/kafka/kafka_config.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "core/model/error.h"

namespace sluice {

namespace kafka {

namespace {

struct Setting {
  const char* name;
  const char* value;
};

// Tuning; the job's properties may say otherwise.
constexpr auto tuning = std::to_array<Setting>({
    // A sink is slower than Kafka, so the local queue is full most of the time. By default librdkafka then leaves the
    // partition alone for a whole second, and the queue runs dry.
    {"fetch.queue.backoff.ms", "10"},
    {"queued.min.messages", "10000"},
    {"queued.max.messages.kbytes", "32768"},
    {"fetch.wait.max.ms", "100"},
    {"check.crcs", "true"},  // no cost that can be measured, and what is damaged on the way must not reach a table
    {"fetch.message.max.bytes", "1048576"},
    {"session.timeout.ms", "10000"},
    {"heartbeat.interval.ms", "3000"},
    {"max.poll.interval.ms", "300000"},
    {"socket.keepalive.enable", "true"},
    {"socket.nagle.disable", "true"},
    {"reconnect.backoff.ms", "50"},
    {"reconnect.backoff.max.ms", "2000"},
    {"retry.backoff.ms", "50"},
    {"topic.metadata.refresh.fast.interval.ms", "100"},
    {"log.connection.close", "false"},
});

struct Refusal {
  std::string_view name;
  std::string_view reason;
};

constexpr std::string_view by_ledger = "positions come from the sink's ledger and move only with the rows";
constexpr std::string_view by_reader = "the reader relies on its own setting";

constexpr auto refusals = std::to_array<Refusal>({
    {"enable.auto.commit", by_ledger},
    {"auto.commit.enable", by_ledger},
    {"auto.commit.interval.ms", by_ledger},
    {"enable.auto.offset.store", by_ledger},
    {"offset.store.method", by_ledger},
    {"offset.store.path", by_ledger},
    {"offset.store.sync.interval.ms", by_ledger},
    {"auto.offset.reset", "a position that is gone must stop the job; use scan.startup.mode for splits without one"},
    {"isolation.level", "records of transactions that are open or were aborted must not be written"},
    {"partition.assignment.strategy", "splits are handed over one by one, which needs cooperative-sticky"},
    {"group.protocol", by_reader},
    {"group.remote.assignor", by_reader},
    {"group.protocol.type", by_reader},
    {"group.id", "set group.id of the source instead"},
    {"group.instance.id", "every task needs its own, which Sluice derives"},
    {"bootstrap.servers", "set bootstrap.servers of the source instead"},
    {"metadata.broker.list", "set bootstrap.servers of the source instead"},
    {"allow.auto.create.topics", "a topic that is missing must stop the job, not be made by it"},
    {"enable.partition.eof", by_reader},
    {"consume.callback.max.messages", by_reader},
    {"log.queue", by_reader},
    {"log.thread.name", by_reader},
    {"enabled_events", by_reader},
    {"statistics.interval.ms", "they tell Sluice when librdkafka has lost its brokers"},
});

// Parts of names whose values are never printed, not even by way of librdkafka's own error text.
constexpr auto secret_parts = std::to_array<std::string_view>(
    {"password", "secret", "pem", "token", "jaas", "oauthbearer", "sasl.username", "kinit", "ssl_key", "assertion"});

bool is_secret(std::string_view name) {
  return std::any_of(secret_parts.begin(), secret_parts.end(),
                     [&](std::string_view part) { return name.find(part) != std::string_view::npos; });
}

// What is wrong with one setting; it is made when nothing is.
std::optional<std::string> set(rd_kafka_conf_t* conf, const std::string& name, const std::string& value) {
  std::array<char, 512> text{};
  switch (rd_kafka_conf_set(conf, name.c_str(), value.c_str(), text.data(), text.size())) {
    case RD_KAFKA_CONF_OK:
      return std::nullopt;
    case RD_KAFKA_CONF_UNKNOWN:
      return "Kafka property " + name + " is not known to librdkafka " + rd_kafka_version_str() +
             "; its CONFIGURATION.md lists the names (Java's names differ in places)";
    default:
      return "Kafka property " + name + " has a value that librdkafka does not take" +
             (is_secret(name) ? std::string{} : ": " + std::string{text.data()});
  }
}

std::optional<std::string> set_property(rd_kafka_conf_t* conf, const std::string& name, const std::string& value) {
  const auto refusal =
      std::find_if(refusals.begin(), refusals.end(), [&](const Refusal& each) { return each.name == name; });
  if (refusal != refusals.end()) {
    return "Kafka property " + name + " may not be set: " + std::string{refusal->reason};
  }
  return set(conf, name, value);
}

void require(const std::optional<std::string>& problem) {
  if (problem) throw Error(Fault::fatal, *problem + ". Correct source.properties in the job file.");
}

ConfHandle common_conf(const KafkaConfig& config, const std::string& client) {
  ConfHandle conf{rd_kafka_conf_new()};
  for (const auto& [name, value] : tuning) require(set(conf.get(), name, value));
  const bool discover = config.discovery_interval.count() > 0;
  const auto discovery_ms = discover ? std::clamp<std::int64_t>(config.discovery_interval.count(), 10, 3'600'000) : -1;
  require(set(conf.get(), "topic.metadata.refresh.interval.ms", std::to_string(discovery_ms)));
  require(set(conf.get(), "client.id", client));
  for (const auto& [name, value] : config.properties) require(set_property(conf.get(), name, value));
  // What the guarantee rests on comes last, so that nothing can undo it.
  require(set(conf.get(), "bootstrap.servers", config.bootstrap_servers));
  require(set(conf.get(), "isolation.level", "read_committed"));
  require(set(conf.get(), "allow.auto.create.topics", "false"));
  require(set(conf.get(), "enable.auto.commit", "false"));
  require(set(conf.get(), "enable.auto.offset.store", "false"));
  require(set(conf.get(), "auto.offset.reset", "error"));
  if (!config.topics_regex.empty() && !config.properties.contains("topic.blacklist")) {
    // A wide expression must not catch what the brokers keep for themselves.
    require(set(conf.get(), "topic.blacklist",
                "^__consumer_offsets$,^__transaction_state$,^__share_group_state$,^__cluster_metadata$"));
  }
  return conf;
}

}  // namespace

std::string client_name(const KafkaConfig& config, const std::string& suffix) {
  return (config.client_id.empty() ? std::string{"sluice"} : config.client_id) + "-" + suffix;
}

std::string whole_name_pattern(const std::string& topics_regex) {
  return "^(" + topics_regex + ")$";
}

ConfHandle member_conf(const KafkaConfig& config, std::size_t task) {
  ConfHandle conf = common_conf(config, client_name(config, std::to_string(task)));
  require(set(conf.get(), "group.id", config.group_id));
  require(set(conf.get(), "partition.assignment.strategy", "cooperative-sticky"));
  require(set(conf.get(), "enable.partition.eof", "true"));
  // Only they tell that librdkafka has forgotten all brokers.
  require(set(conf.get(), "statistics.interval.ms", "5000"));
  if (!config.group_instance_prefix.empty()) {
    require(set(conf.get(), "group.instance.id", config.group_instance_prefix + "-" + std::to_string(task)));
  }
  return conf;
}

ConfHandle query_conf(const KafkaConfig& config) {
  return common_conf(config, client_name(config, "query"));
}

}  // namespace kafka

std::vector<std::string> check_kafka_properties(const std::map<std::string, std::string>& properties) {
  const kafka::ConfHandle conf{rd_kafka_conf_new()};
  std::vector<std::string> problems;
  for (const auto& [name, value] : properties) {
    if (auto problem = kafka::set_property(conf.get(), name, value)) problems.push_back(std::move(*problem));
  }
  return problems;
}

}  // namespace sluice
