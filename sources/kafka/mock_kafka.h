// An in-process broker, which is librdkafka's mock cluster, with a producer for it: for tests and the demo. Nothing
// outlives the process, and a partition keeps its last 5 MB and 100,000 messages only.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace sluice::kafka {

// Any thread may call any method. Failures throw std::runtime_error.
class MockKafka {
 public:
  // Groups settle at once, without the pause in which a real broker waits for more members.
  explicit MockKafka(int brokers = 1);
  ~MockKafka();
  MockKafka(const MockKafka&) = delete;
  MockKafka& operator=(const MockKafka&) = delete;

  std::string bootstrap_servers() const;
  void create_topic(const std::string& topic, int partitions);

  // Queues a record, with the header h=x; flush() waits until the broker has all of them. No value: a tombstone.
  void send(const std::string& topic, int partition, std::string_view key, std::optional<std::string_view> value);
  void flush();

  // Brokers count from 1. One that is down closes its connections and takes no new ones.
  void set_down(int broker);
  void set_up(int broker);

  enum class Request { list_offsets, join_group, heartbeat };
  enum class Answer { group_authorization_failed, fenced_instance_id, not_leader, connection_closed };
  // The next `count` requests of this kind get this answer.
  void answer(Request request, Answer answer, std::size_t count);

 private:
  struct Handles;
  std::unique_ptr<Handles> handles_;
};

}  // namespace sluice::kafka
