#include "sources/kafka/mock_kafka.h"

#include <array>
#include <stdexcept>
#include <vector>

#include "sources/kafka/handles.h"
// After rdkafka.h, which it needs.
#include <librdkafka/rdkafka_mock.h>

namespace sluice::kafka {

namespace {

constexpr int flush_wait_ms = 20'000;

void require(rd_kafka_resp_err_t code) {
  if (code != RD_KAFKA_RESP_ERR_NO_ERROR) throw std::runtime_error(rd_kafka_err2str(code));
}

rd_kafka_t* make_producer(const std::string& bootstrap_servers) {
  ConfHandle conf{rd_kafka_conf_new()};
  std::array<char, 256> text{};
  const auto set = [&](const char* name, const char* value) {
    rd_kafka_conf_set(conf.get(), name, value, text.data(), text.size());
  };
  set("linger.ms", "1");
  set("log_level", "2");  // a broker that a test takes down is no news
  if (!bootstrap_servers.empty()) set("bootstrap.servers", bootstrap_servers.c_str());
  rd_kafka_t* const client = rd_kafka_new(RD_KAFKA_PRODUCER, conf.get(), text.data(), text.size());
  if (client == nullptr) throw std::runtime_error(text.data());
  static_cast<void>(conf.release());  // the client owns it now
  return client;
}

// As the union of rd_kafka_vu_t takes it; the producer copies the bytes.
void* bytes(std::string_view text) {
  return const_cast<char*>(text.data());
}

// The protocol's own numbers.
std::int16_t number_of(MockKafka::Request request) {
  switch (request) {
    case MockKafka::Request::list_offsets:
      return 2;
    case MockKafka::Request::join_group:
      return 11;
    case MockKafka::Request::heartbeat:
      return 12;
  }
  throw std::logic_error("no such request");
}

rd_kafka_resp_err_t code_of(MockKafka::Answer answer) {
  switch (answer) {
    case MockKafka::Answer::group_authorization_failed:
      return RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED;
    case MockKafka::Answer::fenced_instance_id:
      return RD_KAFKA_RESP_ERR_FENCED_INSTANCE_ID;
    case MockKafka::Answer::not_leader:
      return RD_KAFKA_RESP_ERR_NOT_LEADER_FOR_PARTITION;
    case MockKafka::Answer::connection_closed:
      return RD_KAFKA_RESP_ERR__TRANSPORT;
  }
  throw std::logic_error("no such answer");
}

}  // namespace

struct MockKafka::Handles {
  std::unique_ptr<rd_kafka_t, Deleter<rd_kafka_destroy>> host;
  std::unique_ptr<rd_kafka_mock_cluster_t, Deleter<rd_kafka_mock_cluster_destroy>> cluster;
  std::unique_ptr<rd_kafka_t, Deleter<rd_kafka_destroy>> producer;
};

MockKafka::MockKafka(int brokers) : handles_(std::make_unique<Handles>()) {
  handles_->host.reset(make_producer({}));
  handles_->cluster.reset(rd_kafka_mock_cluster_new(handles_->host.get(), brokers));
  if (!handles_->cluster) throw std::runtime_error("the in-process broker does not start");
  rd_kafka_mock_group_initial_rebalance_delay_ms(handles_->cluster.get(), 0);
  handles_->producer.reset(make_producer(bootstrap_servers()));
}

MockKafka::~MockKafka() = default;

std::string MockKafka::bootstrap_servers() const {
  return rd_kafka_mock_cluster_bootstraps(handles_->cluster.get());
}

void MockKafka::create_topic(const std::string& topic, int partitions) {
  require(rd_kafka_mock_topic_create(handles_->cluster.get(), topic.c_str(), partitions, 1));
}

void MockKafka::send(const std::string& topic, int partition, std::string_view key,
                     std::optional<std::string_view> value) {
  std::vector<rd_kafka_vu_t> parts(6);
  parts[0].vtype = RD_KAFKA_VTYPE_TOPIC;
  parts[0].u.cstr = topic.c_str();
  parts[1].vtype = RD_KAFKA_VTYPE_PARTITION;
  parts[1].u.i32 = partition;
  parts[2].vtype = RD_KAFKA_VTYPE_KEY;
  parts[2].u.mem.ptr = bytes(key);
  parts[2].u.mem.size = key.size();
  parts[3].vtype = RD_KAFKA_VTYPE_MSGFLAGS;
  parts[3].u.i = RD_KAFKA_MSG_F_COPY;
  parts[4].vtype = RD_KAFKA_VTYPE_HEADER;
  parts[4].u.header.name = "h";
  parts[4].u.header.val = "x";
  parts[4].u.header.size = 1;
  parts[5].vtype = RD_KAFKA_VTYPE_VALUE;
  parts[5].u.mem.ptr = value ? bytes(*value) : nullptr;
  parts[5].u.mem.size = value ? value->size() : 0;
  while (true) {
    const ErrorHandle failed{rd_kafka_produceva(handles_->producer.get(), parts.data(), parts.size())};
    if (!failed) return;
    if (rd_kafka_error_code(failed.get()) != RD_KAFKA_RESP_ERR__QUEUE_FULL) require(rd_kafka_error_code(failed.get()));
    flush();
  }
}

void MockKafka::flush() {
  require(rd_kafka_flush(handles_->producer.get(), flush_wait_ms));
}

void MockKafka::set_down(int broker) {
  require(rd_kafka_mock_broker_set_down(handles_->cluster.get(), broker));
}

void MockKafka::set_up(int broker) {
  require(rd_kafka_mock_broker_set_up(handles_->cluster.get(), broker));
}

void MockKafka::answer(Request request, Answer answer, std::size_t count) {
  const std::vector<rd_kafka_resp_err_t> codes(count, code_of(answer));
  rd_kafka_mock_push_request_errors_array(handles_->cluster.get(), number_of(request), codes.size(), codes.data());
}

}  // namespace sluice::kafka
