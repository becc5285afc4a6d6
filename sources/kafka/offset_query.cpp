#include "sources/kafka/offset_query.h"

#include <regex.h>

#include <algorithm>
#include <thread>

#include "core/model/error.h"
#include "sources/kafka/errors.h"
#include "sources/kafka/kafka_config.h"

namespace sluice::kafka {

namespace {

using Clock = std::chrono::steady_clock;

// Between two tries of a question. Leader elections and new topics settle within a few of them.
constexpr std::chrono::milliseconds retry_pause{50};

int milliseconds_until(Clock::time_point deadline) {
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now());
  return static_cast<int>(std::max<std::chrono::milliseconds::rep>(left.count(), 1));
}

EventHandle ask_offsets(Client& client, const std::vector<Split>& splits, std::int64_t spec, int timeout_ms) {
  const PartitionsHandle list = new_partitions();
  for (const Split& split : splits) add(list, split, spec);
  const AdminOptionsHandle options = admin_options(client.get(), RD_KAFKA_ADMIN_OP_LISTOFFSETS, timeout_ms);
  const ErrorHandle refused{
      rd_kafka_AdminOptions_set_isolation_level(options.get(), RD_KAFKA_ISOLATION_LEVEL_READ_COMMITTED)};
  const QueueHandle queue{rd_kafka_queue_new(client.get())};
  rd_kafka_ListOffsets(client.get(), list.get(), options.get(), queue.get());
  return EventHandle{rd_kafka_queue_poll(queue.get(), timeout_ms + 1000)};
}

// A split whose question was cut off comes back without an error and with RD_KAFKA_OFFSET_INVALID: no answer.
// RD_KAFKA_OFFSET_END is one, but only to a question by time: no record is that young.
bool answered(std::int64_t offset, std::int64_t spec) {
  return offset >= 0 || (spec >= 0 && offset == RD_KAFKA_OFFSET_END);
}

// Adds what the answer holds to `found`; what went wrong first, if anything did.
rd_kafka_resp_err_t take_offsets(const EventHandle& event, std::int64_t spec, Positions& found) {
  if (!event) return RD_KAFKA_RESP_ERR__TIMED_OUT;
  if (const auto code = rd_kafka_event_error(event.get()); code != RD_KAFKA_RESP_ERR_NO_ERROR) return code;
  std::size_t count = 0;
  const auto* const result = rd_kafka_event_ListOffsets_result(event.get());
  const auto* const* const infos = rd_kafka_ListOffsets_result_infos(result, &count);
  auto first = RD_KAFKA_RESP_ERR_NO_ERROR;
  for (std::size_t i = 0; i < count; ++i) {
    const auto* const one = rd_kafka_ListOffsetsResultInfo_topic_partition(infos[i]);
    if (one->err == RD_KAFKA_RESP_ERR_NO_ERROR && answered(one->offset, spec)) {
      found[{one->topic, one->partition}] = one->offset;
    } else if (first == RD_KAFKA_RESP_ERR_NO_ERROR) {
      first = one->err;
    }
  }
  return first;
}

struct TopicAnswer {
  rd_kafka_resp_err_t code = RD_KAFKA_RESP_ERR_NO_ERROR;
  std::vector<Split> splits;
};

TopicAnswer ask_topic(Client& client, const std::string& topic, int timeout_ms) {
  const TopicHandle handle{rd_kafka_topic_new(client.get(), topic.c_str(), nullptr)};
  if (!handle) return {rd_kafka_last_error(), {}};
  const rd_kafka_metadata_t* raw = nullptr;
  const auto code = rd_kafka_metadata(client.get(), 0, handle.get(), &raw, timeout_ms);
  const MetadataHandle metadata{raw};
  if (code != RD_KAFKA_RESP_ERR_NO_ERROR) return {code, {}};
  if (metadata->topic_cnt != 1) return {RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART, {}};
  const auto& described = metadata->topics[0];
  TopicAnswer answer{described.err, {}};
  for (int i = 0; i < described.partition_cnt; ++i) answer.splits.push_back({topic, described.partitions[i].id});
  if (answer.code == RD_KAFKA_RESP_ERR_NO_ERROR && answer.splits.empty()) {
    answer.code = RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART;
  }
  return answer;
}

std::vector<Split> splits_of_topic(Client& client, const KafkaConfig& config, const std::string& topic,
                                   Clock::time_point deadline) {
  while (true) {
    TopicAnswer answer = ask_topic(client, topic, milliseconds_until(deadline));
    if (answer.code == RD_KAFKA_RESP_ERR_NO_ERROR) return answer.splits;
    if (meaning_of(answer.code, false) == Meaning::missing_topic) {
      throw Error(Fault::fatal,
                  "topic " + topic + " does not exist on " + config.bootstrap_servers +
                      ". Create it, or correct topics in the job file.",
                  rd_kafka_err2name(answer.code));
    }
    if (fault_of_query(answer.code) == Fault::fatal || Clock::now() >= deadline) {
      throw make_error(fault_of_query(answer.code),
                       "the partitions of topic " + topic + " cannot be read from " + config.bootstrap_servers,
                       answer.code);
    }
    std::this_thread::sleep_for(retry_pause);
  }
}

// The engine and the flags that librdkafka matches subscriptions with, so that both always agree.
class TopicPattern {
 public:
  explicit TopicPattern(const std::string& topics_regex) {
    if (regcomp(&compiled_, whole_name_pattern(topics_regex).c_str(), REG_EXTENDED | REG_NOSUB) != 0) {
      throw Error(Fault::fatal, "topics.regex is no POSIX extended regular expression: " + topics_regex +
                                    ". Correct it in the job file.");
    }
  }
  ~TopicPattern() { regfree(&compiled_); }
  TopicPattern(const TopicPattern&) = delete;
  TopicPattern& operator=(const TopicPattern&) = delete;

  bool matches(const char* topic) const { return regexec(&compiled_, topic, 0, nullptr, 0) == 0; }

 private:
  regex_t compiled_{};
};

// The splits of all topics that match; nothing while one of them has no leader or no partitions yet.
std::optional<std::vector<Split>> matching_splits(const rd_kafka_metadata_t& metadata, const TopicPattern& pattern) {
  std::vector<Split> splits;
  for (int i = 0; i < metadata.topic_cnt; ++i) {
    const auto& topic = metadata.topics[i];
    if (!pattern.matches(topic.topic)) continue;
    if (topic.err != RD_KAFKA_RESP_ERR_NO_ERROR || topic.partition_cnt == 0) return std::nullopt;
    for (int j = 0; j < topic.partition_cnt; ++j) splits.push_back({topic.topic, topic.partitions[j].id});
  }
  return splits;
}

std::vector<Split> splits_by_regex(Client& client, const KafkaConfig& config, Clock::time_point deadline) {
  const TopicPattern pattern{config.topics_regex};
  while (true) {
    const rd_kafka_metadata_t* raw = nullptr;
    const auto code = rd_kafka_metadata(client.get(), 1, nullptr, &raw, milliseconds_until(deadline));
    const MetadataHandle metadata{raw};
    if (code != RD_KAFKA_RESP_ERR_NO_ERROR) {
      throw make_error(fault_of_query(code), "the topics of " + config.bootstrap_servers + " cannot be listed", code);
    }
    if (auto splits = matching_splits(*metadata, pattern)) return *std::move(splits);
    if (Clock::now() >= deadline) {
      throw make_error(Fault::retryable, "not every topic that matches topics.regex is ready",
                       RD_KAFKA_RESP_ERR_LEADER_NOT_AVAILABLE);
    }
    std::this_thread::sleep_for(retry_pause);
  }
}

}  // namespace

Positions list_offsets(Client& client, const std::vector<Split>& splits, std::int64_t spec,
                       std::chrono::milliseconds wait_max) {
  const auto deadline = Clock::now() + wait_max;
  Positions found;
  std::vector<Split> missing = splits;
  while (!missing.empty()) {
    const auto code = take_offsets(ask_offsets(client, missing, spec, milliseconds_until(deadline)), spec, found);
    std::erase_if(missing, [&](const Split& split) { return found.contains(split); });
    if (missing.empty()) break;
    if (fault_of_query(code) == Fault::fatal || Clock::now() >= deadline) {
      throw make_error(fault_of_query(code),
                       "the offsets of " + to_string(missing.front()) +
                           (missing.size() > 1 ? " and " + std::to_string(missing.size() - 1) + " more" : "") +
                           " cannot be read from Kafka",
                       code == RD_KAFKA_RESP_ERR_NO_ERROR ? RD_KAFKA_RESP_ERR__TIMED_OUT : code);
    }
    std::this_thread::sleep_for(retry_pause);
  }
  return found;
}

std::vector<Split> find_splits(Client& client, const KafkaConfig& config, std::chrono::milliseconds wait_max) {
  const auto deadline = Clock::now() + wait_max;
  if (!config.topics_regex.empty()) return splits_by_regex(client, config, deadline);
  std::vector<Split> splits;
  for (const std::string& topic : config.topics) {
    const auto found = splits_of_topic(client, config, topic, deadline);
    splits.insert(splits.end(), found.begin(), found.end());
  }
  return splits;
}

std::optional<bool> topic_exists(Client& client, const std::string& topic, std::chrono::milliseconds wait_max) {
  const auto answer = ask_topic(client, topic, static_cast<int>(wait_max.count()));
  if (answer.code == RD_KAFKA_RESP_ERR_NO_ERROR) return true;
  if (meaning_of(answer.code, false) == Meaning::missing_topic) return false;
  return std::nullopt;
}

}  // namespace sluice::kafka
