// The messages of one poll, and the records that point into them.
#pragma once

#include <chrono>
#include <cstddef>
#include <span>
#include <vector>

#include "core/api/source.h"
#include "sources/kafka/handles.h"

namespace sluice::kafka {

// Owns messages from fetch() to clear(). They must be gone before the consumer is closed, which waits for them.
class MessageBatch {
 public:
  MessageBatch() = default;
  ~MessageBatch() { clear(); }
  MessageBatch(const MessageBatch&) = delete;
  MessageBatch& operator=(const MessageBatch&) = delete;

  // Adds what the queue holds, up to `messages_max` in all. Callbacks run in here.
  void fetch(rd_kafka_queue_t* queue, std::size_t messages_max);
  // The same, and waits for a first one no longer than `wait_max`.
  void wait(rd_kafka_queue_t* queue, std::size_t messages_max, std::chrono::milliseconds wait_max);
  void clear();

  std::span<rd_kafka_message_t* const> messages() const { return {messages_.data(), count_}; }

 private:
  void take(rd_kafka_queue_t* queue, std::size_t count_max, int wait_ms);

  std::vector<rd_kafka_message_t*> messages_;
  std::size_t count_ = 0;
};

// Records as views into the messages; what it has allocated is used again.
class RecordList {
 public:
  void clear();
  void add(SplitIndex split, const rd_kafka_message_t& message);
  // All that were added since clear(). Valid until the next clear() or add().
  std::span<const Record> records();

 private:
  struct HeaderRun {
    std::size_t record = 0;
    std::size_t first = 0;
    std::size_t count = 0;
  };

  std::vector<Record> records_;
  std::vector<Header> headers_;
  std::vector<HeaderRun> runs_;  // spans are set at the end, since headers_ moves while it grows
};

}  // namespace sluice::kafka
