// One librdkafka instance with its callbacks.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "core/api/log.h"
#include "sources/kafka/client_log.h"
#include "sources/kafka/handles.h"

namespace sluice::kafka {

// What librdkafka calls back with, on the thread that serves its queues.
struct ClientCallbacks {
  std::function<void(rd_kafka_resp_err_t, const rd_kafka_topic_partition_list_t*)> rebalance;  // empty for queries
  std::function<void(rd_kafka_resp_err_t, const char* reason)> error;                          // may be empty
  std::function<void(std::string_view json)> statistics;                                       // may be empty
};

// Must not move: librdkafka holds its address. Destroyed without the group's goodbye; who joined a group leaves first.
class Client {
 public:
  // Throws Error(fatal) when librdkafka refuses the configuration as a whole.
  Client(ConfHandle conf, std::string name, const Log& log, ClientCallbacks callbacks);
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  rd_kafka_t* get() const { return handle_; }
  ClientLog& log() { return log_; }
  const ClientCallbacks& callbacks() const { return callbacks_; }

 private:
  ClientLog log_;  // before the handle: its threads write lines until they are gone
  ClientCallbacks callbacks_;
  rd_kafka_t* handle_ = nullptr;
};

}  // namespace sluice::kafka
