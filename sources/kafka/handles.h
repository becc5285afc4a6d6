// RAII over the handles of librdkafka's C API. The only header that includes it; nothing outside this folder may see
// it.
#pragma once

#include <librdkafka/rdkafka.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/model/ids.h"

namespace sluice::kafka {

template <auto destroy>
struct Deleter {
  template <typename Handle>
  void operator()(Handle* handle) const noexcept {
    destroy(handle);
  }
};

using ConfHandle = std::unique_ptr<rd_kafka_conf_t, Deleter<rd_kafka_conf_destroy>>;
using QueueHandle = std::unique_ptr<rd_kafka_queue_t, Deleter<rd_kafka_queue_destroy>>;
using EventHandle = std::unique_ptr<rd_kafka_event_t, Deleter<rd_kafka_event_destroy>>;
using ErrorHandle = std::unique_ptr<rd_kafka_error_t, Deleter<rd_kafka_error_destroy>>;
using TopicHandle = std::unique_ptr<rd_kafka_topic_t, Deleter<rd_kafka_topic_destroy>>;
using MetadataHandle = std::unique_ptr<const rd_kafka_metadata_t, Deleter<rd_kafka_metadata_destroy>>;
using AdminOptionsHandle = std::unique_ptr<rd_kafka_AdminOptions_t, Deleter<rd_kafka_AdminOptions_destroy>>;
using PartitionsHandle =
    std::unique_ptr<rd_kafka_topic_partition_list_t, Deleter<rd_kafka_topic_partition_list_destroy>>;

inline PartitionsHandle new_partitions() {
  return PartitionsHandle{rd_kafka_topic_partition_list_new(8)};
}

inline void add(const PartitionsHandle& list, const Split& split, std::int64_t offset = RD_KAFKA_OFFSET_INVALID) {
  rd_kafka_topic_partition_list_add(list.get(), split.topic.c_str(), split.partition)->offset = offset;
}

inline AdminOptionsHandle admin_options(rd_kafka_t* client, rd_kafka_admin_op_t question, int answer_wait_ms) {
  AdminOptionsHandle options{rd_kafka_AdminOptions_new(client, question)};
  char problem[1];  // none that could be mended
  rd_kafka_AdminOptions_set_request_timeout(options.get(), answer_wait_ms, problem, sizeof problem);
  return options;
}

inline std::vector<Split> to_splits(const rd_kafka_topic_partition_list_t* list) {
  std::vector<Split> splits;
  for (int i = 0; list != nullptr && i < list->cnt; ++i) {
    splits.push_back({list->elems[i].topic, list->elems[i].partition});
  }
  return splits;
}

}  // namespace sluice::kafka
