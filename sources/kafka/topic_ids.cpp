#include <array>
#include <set>
#include <string>
#include <vector>

#include "core/model/error.h"
#include "sources/kafka/errors.h"
#include "sources/kafka/handles.h"
#include "sources/kafka/offset_query.h"

namespace sluice::kafka {

namespace {

constexpr int answer_wait_ms = 10'000;

using TopicsHandle = std::unique_ptr<rd_kafka_TopicCollection_t, Deleter<rd_kafka_TopicCollection_destroy>>;

// Uuid.toString() of Kafka's own tools, URL-safe base64 without padding; all zero where the broker knows none.
std::string text_of(const rd_kafka_Uuid_t* id) {
  if (id == nullptr) return {};
  const char* const text = rd_kafka_Uuid_base64str(id);
  const std::string found = text == nullptr ? "" : text;
  const bool none = rd_kafka_Uuid_most_significant_bits(id) == 0 && rd_kafka_Uuid_least_significant_bits(id) == 0;
  return none ? "" : found;
}

void require_answer(rd_kafka_resp_err_t code) {
  if (code == RD_KAFKA_RESP_ERR_NO_ERROR) return;
  throw make_error(fault_of_query(code), "the ids of the job's topics cannot be read from Kafka", code);
}

// The broker that has just answered. Any of them knows the ids; by default librdkafka would wait for the controller,
// which may be away, and which its mock cluster has not.
std::int32_t a_broker(Client& client) {
  const rd_kafka_metadata_t* found = nullptr;
  const auto code = rd_kafka_metadata(client.get(), 0, nullptr, &found, answer_wait_ms);
  const MetadataHandle metadata{found};
  require_answer(code);
  return metadata->orig_broker_id;
}

}  // namespace

TopicIds topic_ids(Client& client, const std::vector<Split>& splits) {
  std::set<std::string> topics;
  for (const Split& split : splits) topics.insert(split.topic);
  std::vector<const char*> names;
  for (const std::string& topic : topics) names.push_back(topic.c_str());
  const TopicsHandle wanted{rd_kafka_TopicCollection_of_topic_names(names.data(), names.size())};
  const AdminOptionsHandle options = admin_options(client.get(), RD_KAFKA_ADMIN_OP_DESCRIBETOPICS, answer_wait_ms);
  std::array<char, 256> problem{};
  rd_kafka_AdminOptions_set_broker(options.get(), a_broker(client), problem.data(), problem.size());
  const QueueHandle queue{rd_kafka_queue_new(client.get())};
  rd_kafka_DescribeTopics(client.get(), wanted.get(), options.get(), queue.get());
  const EventHandle event{rd_kafka_queue_poll(queue.get(), answer_wait_ms + 1'000)};
  TopicIds found;
  const auto code = event ? rd_kafka_event_error(event.get()) : RD_KAFKA_RESP_ERR__TIMED_OUT;
  require_answer(code);
  std::size_t count = 0;
  const auto* const result = rd_kafka_event_DescribeTopics_result(event.get());
  const auto* const* const descriptions = rd_kafka_DescribeTopics_result_topics(result, &count);
  for (std::size_t i = 0; i < count; ++i) {
    const std::string id = text_of(rd_kafka_TopicDescription_topic_id(descriptions[i]));
    if (!id.empty()) found[rd_kafka_TopicDescription_name(descriptions[i])] = id;
  }
  return found;
}

}  // namespace sluice::kafka
