#include "sinks/kafka/letter_topic.h"

#include <librdkafka/rdkafka.h>

#include <array>
#include <atomic>
#include <utility>

#include "core/model/error.h"

namespace sluice::kafka {

namespace {

// Longer than a broker takes to come back, shorter than max.poll.interval.ms.
constexpr int flush_wait_ms = 60'000;

void set(rd_kafka_conf_t* conf, const std::string& name, const std::string& value) {
  std::array<char, 512> problem{};
  if (rd_kafka_conf_set(conf, name.c_str(), value.c_str(), problem.data(), problem.size()) == RD_KAFKA_CONF_OK) return;
  rd_kafka_conf_destroy(conf);
  throw Error(Fault::fatal, "the property \"" + name + "\" cannot be set for the producer of dead letters");
}

// For what a person must mend; nullptr: it may pass.
const char* next_step(rd_kafka_resp_err_t code) {
  switch (code) {
    case RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART:
    case RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC:
      return "create the topic";
    case RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED:
      return "grant the right to write to it";
    case RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE:
      return "raise max.message.bytes of that topic above that of the source's, since a letter has headers of its own";
    case RD_KAFKA_RESP_ERR_INVALID_RECORD:
      return "look at the settings of that topic: one with cleanup.policy=compact takes no letter without a key";
    default:
      return nullptr;
  }
}

class Headers {
 public:
  explicit Headers(std::size_t count) : headers_(rd_kafka_headers_new(count)) {}
  ~Headers() {
    if (headers_ != nullptr) rd_kafka_headers_destroy(headers_);
  }
  Headers(const Headers&) = delete;
  Headers& operator=(const Headers&) = delete;

  void add(const std::string& name, const std::string& value) {
    rd_kafka_header_add(headers_, name.data(), static_cast<ssize_t>(name.size()), value.data(),
                        static_cast<ssize_t>(value.size()));
  }
  rd_kafka_headers_t* get() { return headers_; }
  void taken() { headers_ = nullptr; }  // by the message

 private:
  rd_kafka_headers_t* headers_;
};

// Nothing is a record without a key, or a tombstone; an empty text is neither.
rd_kafka_vu_t memory(rd_kafka_vtype_t type, const std::optional<std::string>& bytes) {
  rd_kafka_vu_t part{};
  part.vtype = type;
  part.u.mem.ptr = bytes ? const_cast<char*>(bytes->data()) : nullptr;  // the C interface knows no const; it copies
  part.u.mem.size = bytes ? bytes->size() : 0;
  return part;
}

void add_errors(Headers& headers, const std::string& job, const DeadLetter& letter) {
  const std::string prefix = "__connect.errors.";
  headers.add(prefix + "topic", letter.split.topic);
  headers.add(prefix + "partition", std::to_string(letter.split.partition));
  headers.add(prefix + "offset", std::to_string(letter.offset));
  headers.add(prefix + "connector.name", job);
  headers.add(prefix + "stage", letter.code.empty() ? "VALUE_CONVERTER" : "TASK_PUT");
  headers.add(prefix + "exception.class.name",
              std::string(to_string(letter.of)) + (letter.code.empty() ? "" : " " + letter.code));
  headers.add(prefix + "exception.message", letter.message);
  // Connect runs one sink in a connector and has no header for it.
  if (!letter.sink.empty()) headers.add("__sluice.errors.sink", letter.sink);
}

}  // namespace

class LetterTopic::Producer {
 public:
  explicit Producer(const LetterTopicConfig& config) : config_(config) {
    rd_kafka_conf_t* const conf = rd_kafka_conf_new();
    set(conf, "log_level", "3");
    set(conf, "message.max.bytes", "1000000000");  // a letter is as large as its record; the topic has the last word
    for (const auto& [name, value] : config_.properties) set(conf, name, value);
    set(conf, "bootstrap.servers", config_.bootstrap_servers);
    set(conf, "client.id", "sluice-" + config_.job + "-dead-letters");
    set(conf, "enable.idempotence", "true");  // with acks=all and retries; also keeps the order
    rd_kafka_conf_set_opaque(conf, this);
    rd_kafka_conf_set_dr_msg_cb(conf, [](rd_kafka_t*, const rd_kafka_message_t* message, void* self) {
      static_cast<Producer*>(self)->delivered(*message);
    });
    std::array<char, 512> problem{};
    client_ = rd_kafka_new(RD_KAFKA_PRODUCER, conf, problem.data(), problem.size());
    if (client_ != nullptr) return;
    rd_kafka_conf_destroy(conf);
    throw Error(Fault::fatal, std::string("the producer of dead letters cannot be made: ") + problem.data());
  }
  // Letters that were not flushed belong to an epoch that is not committed: they will come again.
  ~Producer() {
    rd_kafka_purge(client_, RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT);
    rd_kafka_flush(client_, 1'000);
    rd_kafka_destroy(client_);
  }
  Producer(const Producer&) = delete;
  Producer& operator=(const Producer&) = delete;

  void send(const DeadLetter& letter) {
    Headers headers(letter.headers.size() + 9);
    for (const auto& [name, value] : letter.headers) headers.add(name, value);
    add_errors(headers, config_.job, letter);
    std::array<rd_kafka_vu_t, 5> parts{};
    parts[0].vtype = RD_KAFKA_VTYPE_TOPIC;
    parts[0].u.cstr = config_.topic.c_str();
    parts[1].vtype = RD_KAFKA_VTYPE_MSGFLAGS;
    parts[1].u.i = RD_KAFKA_MSG_F_COPY | RD_KAFKA_MSG_F_BLOCK;
    parts[2] = memory(RD_KAFKA_VTYPE_KEY, letter.key);
    parts[3] = memory(RD_KAFKA_VTYPE_VALUE, letter.value);
    parts[4].vtype = RD_KAFKA_VTYPE_HEADERS;
    parts[4].u.headers = headers.get();
    const std::unique_ptr<rd_kafka_error_t, void (*)(rd_kafka_error_t*)> refused(
        rd_kafka_produceva(client_, parts.data(), parts.size()), rd_kafka_error_destroy);
    if (refused) throw failure(rd_kafka_error_code(refused.get()));
    headers.taken();
    rd_kafka_poll(client_, 0);
  }

  void flush() {
    const auto code = rd_kafka_flush(client_, flush_wait_ms);
    const auto failed = static_cast<rd_kafka_resp_err_t>(failed_.exchange(RD_KAFKA_RESP_ERR_NO_ERROR));
    if (code != RD_KAFKA_RESP_ERR_NO_ERROR) throw failure(code);
    if (failed != RD_KAFKA_RESP_ERR_NO_ERROR) throw failure(failed);
  }

 private:
  void delivered(const rd_kafka_message_t& message) {
    if (message.err != RD_KAFKA_RESP_ERR_NO_ERROR) failed_ = message.err;
  }
  Error failure(rd_kafka_resp_err_t code) const {
    const char* const step = next_step(code);
    return Error(step != nullptr || code == RD_KAFKA_RESP_ERR__FATAL ? Fault::fatal : Fault::retryable,
                 "dead letters cannot be written to topic " + config_.topic + ": " + rd_kafka_err2str(code) +
                     ". Nothing of the epoch was committed" + (step != nullptr ? std::string("; ") + step : ""),
                 rd_kafka_err2name(code));
  }

  const LetterTopicConfig& config_;  // the topic's
  rd_kafka_t* client_ = nullptr;
  std::atomic<int> failed_{RD_KAFKA_RESP_ERR_NO_ERROR};
};

LetterTopic::LetterTopic(LetterTopicConfig config) : config_(std::move(config)), producer_(make_producer()) {}

LetterTopic::~LetterTopic() = default;

// One caller at a time, so that whatever fails is the caller's own.
void LetterTopic::deliver(std::span<const DeadLetter> letters) {
  const std::scoped_lock lock(mutex_);
  try {
    if (!producer_) producer_ = make_producer();
    for (const DeadLetter& letter : letters) producer_->send(letter);
    producer_->flush();
  } catch (const Error& error) {
    // One that has lost all brokers may never find them again (confluentinc/librdkafka#5301).
    const bool made = producer_ != nullptr;
    producer_.reset();
    if (made) throw;
    throw Error(Fault::retryable, error.what(), error.code());  // it could be made when the job began
  }
}

std::unique_ptr<LetterTopic::Producer> LetterTopic::make_producer() const {
  return std::make_unique<Producer>(config_);
}

}  // namespace sluice::kafka
