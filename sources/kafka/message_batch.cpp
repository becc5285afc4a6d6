#include "sources/kafka/message_batch.h"

#include <algorithm>
#include <string_view>

namespace sluice::kafka {

namespace {

// Messages keep whole fetch responses alive, so a batch is bounded however many the caller would take.
constexpr std::size_t batch_max = 16'384;

std::string_view view(const void* bytes, std::size_t size) {
  return {static_cast<const char*>(bytes), size};
}

}  // namespace

void MessageBatch::fetch(rd_kafka_queue_t* queue, std::size_t messages_max) {
  const std::size_t wanted = std::clamp<std::size_t>(messages_max, 1, batch_max);
  if (messages_.size() < wanted) messages_.resize(wanted);
  if (count_ < wanted) take(queue, wanted - count_, 0);
}

// A batch of librdkafka waits until it is full or the time is over. Waiting for one message instead hands the first one
// on at once, and whatever came with it.
void MessageBatch::wait(rd_kafka_queue_t* queue, std::size_t messages_max, std::chrono::milliseconds wait_max) {
  if (wait_max.count() <= 0) return;
  if (messages_.empty()) messages_.resize(1);
  take(queue, 1, static_cast<int>(std::min<std::chrono::milliseconds::rep>(wait_max.count(), 3'600'000)));
  if (count_ > 0) fetch(queue, messages_max);
}

void MessageBatch::take(rd_kafka_queue_t* queue, std::size_t count_max, int wait_ms) {
  const auto taken = rd_kafka_consume_batch_queue(queue, wait_ms, messages_.data() + count_, count_max);
  if (taken > 0) count_ += static_cast<std::size_t>(taken);
}

void MessageBatch::clear() {
  for (std::size_t i = 0; i < count_; ++i) rd_kafka_message_destroy(messages_[i]);
  count_ = 0;
}

void RecordList::clear() {
  records_.clear();
  headers_.clear();
  runs_.clear();
}

void RecordList::add(SplitIndex split, const rd_kafka_message_t& message) {
  Record& record = records_.emplace_back();
  record.split = split;
  record.offset = message.offset;
  rd_kafka_timestamp_type_t kind = RD_KAFKA_TIMESTAMP_NOT_AVAILABLE;
  record.timestamp_ms = rd_kafka_message_timestamp(&message, &kind);
  if (message.key != nullptr) record.key = view(message.key, message.key_len);
  if (message.payload != nullptr) record.value = view(message.payload, message.len);

  rd_kafka_headers_t* found = nullptr;
  if (rd_kafka_message_headers(&message, &found) != RD_KAFKA_RESP_ERR_NO_ERROR) return;
  HeaderRun run{records_.size() - 1, headers_.size(), 0};
  const char* name = nullptr;
  const void* value = nullptr;
  std::size_t size = 0;
  while (rd_kafka_header_get_all(found, run.count, &name, &value, &size) == RD_KAFKA_RESP_ERR_NO_ERROR) {
    headers_.push_back({name, view(value, size)});
    ++run.count;
  }
  if (run.count > 0) runs_.push_back(run);
}

std::span<const Record> RecordList::records() {
  for (const HeaderRun& run : runs_) {
    records_[run.record].headers = std::span{headers_}.subspan(run.first, run.count);
  }
  return records_;
}

}  // namespace sluice::kafka
