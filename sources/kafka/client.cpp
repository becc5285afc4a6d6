#include "sources/kafka/client.h"

#include <array>
#include <utility>

#include "core/model/error.h"

namespace sluice::kafka {

namespace {

Client& client_of(void* opaque) {
  return *static_cast<Client*>(opaque);
}

void on_log(const rd_kafka_t* handle, int level, const char* facility, const char* text) {
  // Before the instance is complete there is nobody to tell; what stops it then is told by rd_kafka_new().
  if (handle == nullptr || rd_kafka_opaque(handle) == nullptr) return;
  client_of(rd_kafka_opaque(handle)).log().library_line(level, facility, text, ClientLog::Clock::now());
}

void on_error(rd_kafka_t*, int code, const char* reason, void* opaque) {
  const auto& callback = client_of(opaque).callbacks().error;
  if (callback) callback(static_cast<rd_kafka_resp_err_t>(code), reason);
}

// librdkafka frees the text when this returns 0.
int on_statistics(rd_kafka_t*, char* json, std::size_t size, void* opaque) {
  const auto& callback = client_of(opaque).callbacks().statistics;
  if (callback) callback({json, size});
  return 0;
}

void on_rebalance(rd_kafka_t*, rd_kafka_resp_err_t code, rd_kafka_topic_partition_list_t* partitions, void* opaque) {
  client_of(opaque).callbacks().rebalance(code, partitions);
}

void on_commit(rd_kafka_t*, rd_kafka_resp_err_t code, rd_kafka_topic_partition_list_t*, void* opaque) {
  if (code == RD_KAFKA_RESP_ERR_NO_ERROR || code == RD_KAFKA_RESP_ERR__NO_OFFSET) return;
  client_of(opaque).log().line(LogLevel::debug, "the group's offsets, which are advisory, could not be committed: " +
                                                    std::string{rd_kafka_err2str(code)});
}

}  // namespace

Client::Client(ConfHandle conf, std::string name, const Log& log, ClientCallbacks callbacks)
    : log_(log, std::move(name)), callbacks_(std::move(callbacks)) {
  rd_kafka_conf_set_opaque(conf.get(), this);
  rd_kafka_conf_set_log_cb(conf.get(), on_log);
  rd_kafka_conf_set_error_cb(conf.get(), on_error);
  rd_kafka_conf_set_offset_commit_cb(conf.get(), on_commit);
  rd_kafka_conf_set_stats_cb(conf.get(), on_statistics);
  if (callbacks_.rebalance) rd_kafka_conf_set_rebalance_cb(conf.get(), on_rebalance);
  std::array<char, 512> text{};
  handle_ = rd_kafka_new(RD_KAFKA_CONSUMER, conf.get(), text.data(), text.size());
  if (handle_ == nullptr) {
    throw Error(Fault::fatal, "the Kafka client cannot be made from bootstrap.servers and source.properties: " +
                                  std::string{text.data()} + ". Correct them in the job file.");
  }
  static_cast<void>(conf.release());  // the instance owns it now
}

Client::~Client() {
  rd_kafka_destroy_flags(handle_, RD_KAFKA_DESTROY_F_NO_CONSUMER_CLOSE);
}

}  // namespace sluice::kafka
