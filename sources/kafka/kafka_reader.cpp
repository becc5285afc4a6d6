#include "sources/kafka/kafka_reader.h"

#include <array>
#include <bit>
#include <exception>
#include <string>
#include <utility>

#include "sources/kafka/errors.h"
#include "sources/kafka/group_members.h"
#include "sources/kafka/kafka_config.h"
#include "sources/kafka/known_brokers.h"
#include "sources/kafka/offset_query.h"

namespace sluice::kafka {

namespace {

using Clock = std::chrono::steady_clock;

// A new topic is known to some brokers before others, so one that is missing gets this long to appear.
constexpr std::chrono::seconds missing_topic_wait{10};
constexpr std::chrono::milliseconds short_query{2'000};
constexpr std::chrono::milliseconds last_commit_wait{1'000};
constexpr std::chrono::milliseconds leave_wait{2'000};
constexpr std::chrono::milliseconds group_query_wait{1'000};
constexpr std::chrono::milliseconds group_commit_wait{10'000};
constexpr std::chrono::milliseconds others_query_wait{3'000};  // with the connections, which are new
constexpr std::size_t silences_min = 3;                        // statistics in a row without a broker that is up

std::vector<std::string> subscription(const KafkaConfig& config) {
  if (config.topics_regex.empty()) return config.topics;
  return {whole_name_pattern(config.topics_regex)};
}

}  // namespace

KafkaReader::KafkaReader(const KafkaConfig& config, std::size_t task)
    : config_(config),
      client_(member_conf(config, task), client_name(config, std::to_string(task)), config.log,
              {[this](rd_kafka_resp_err_t code, const rd_kafka_topic_partition_list_t* partitions) {
                 membership_.on_rebalance(code, partitions);
                 // What waits for a message must come back and tell.
                 rd_kafka_queue_yield(queue_.get());
               },
               [this](rd_kafka_resp_err_t code, const char* reason) { on_error(code, reason); },
               [this](std::string_view json) { on_statistics(json); }}),
      membership_(client_, splits_),
      commits_(client_.get()) {
  rd_kafka_poll_set_consumer(client_.get());
  queue_.reset(rd_kafka_queue_get_consumer(client_.get()));
  membership_.subscribe(subscription(config_));
}

KafkaReader::~KafkaReader() {
  close();
}

SourceEvent KafkaReader::poll(std::size_t records_max, std::chrono::milliseconds wait_max) {
  records_.clear();
  batch_.clear();
  commits_.send_if_due(Clock::now());
  if (auto event = next_event()) return *std::move(event);
  throw_failure();

  batch_.fetch(queue_.get(), records_max);
  // A callback that was served in there may have left something to tell, which is not to wait for a message.
  if (batch_.messages().empty() && !membership_.has_news() && !failure_) {
    batch_.wait(queue_.get(), records_max, wait_max);
  }
  sort_messages();
  if (const auto records = records_.records(); !records.empty()) return Records{records};
  if (auto event = next_event()) return *std::move(event);
  throw_failure();
  return Idle{};
}

void KafkaReader::sort_messages() {
  // Messages come in runs of one partition, so the split behind the last one is mostly that of the next one, too.
  const rd_kafka_message_t* previous = nullptr;
  SplitState* state = nullptr;
  for (const rd_kafka_message_t* message : batch_.messages()) {
    if (previous == nullptr || previous->rkt != message->rkt || previous->partition != message->partition) {
      state = state_of(*message);
    }
    previous = message;
    if (message->err != RD_KAFKA_RESP_ERR_NO_ERROR) {
      take_error(state, *message);
    } else if (state != nullptr && state->reading) {
      take_record(*state, *message);
    }
  }
}

SplitState* KafkaReader::state_of(const rd_kafka_message_t& message) {
  return message.rkt == nullptr ? nullptr : splits_.find(rd_kafka_topic_name(message.rkt), message.partition);
}

void KafkaReader::take_record(SplitState& state, const rd_kafka_message_t& message) {
  if (message.offset < state.next) return;  // fetched a second time (F59)
  records_.add(state.index, message);
  state.next = message.offset + 1;
  state.at_end = false;
}

void KafkaReader::take_error(SplitState* state, const rd_kafka_message_t& message) {
  const Meaning meaning = meaning_of(message.err, state != nullptr);
  const bool reading = state != nullptr && state->reading;
  switch (meaning) {
    case Meaning::end_of_split:
      if (!reading) return;
      state->at_end = true;
      if (message.offset > state->next) holes_.push_back({state->index, message.offset});
      return;
    case Meaning::position_gone:
      if (reading) take_lost(*state);
      return;
    case Meaning::missing_topic:
      if (!topic_check_at_) topic_check_at_ = Clock::now() + missing_topic_wait;
      break;
    case Meaning::fenced:
    case Meaning::refused:
    case Meaning::broken: {
      if (message.err == RD_KAFKA_RESP_ERR__FATAL) return on_fatal_error();
      if (state != nullptr && !reading) return;
      broken_ = broken_ || meaning == Meaning::fenced;
      const Fault fault = meaning == Meaning::refused ? Fault::fatal : Fault::retryable;
      const std::string place = message.rkt != nullptr ? rd_kafka_topic_name(message.rkt) : "topics of the job";
      fail(make_error(fault,
                      state != nullptr ? to_string(state->name, state->next) + " cannot be read"
                                       : place + " cannot be read by group " + config_.group_id,
                      message.err));
      return;
    }
    case Meaning::passing:
      break;
  }
  client_.log().line(LogLevel::warning, rd_kafka_message_errstr(&message), {{"code", rd_kafka_err2name(message.err)}});
}

std::optional<SourceEvent> KafkaReader::next_event() {
  while (!holes_.empty()) {
    const Hole hole = holes_.front();
    holes_.pop_front();
    SplitState& state = splits_.at(hole.split);
    // Records that came after the hole was seen have moved the position past it already.
    if (!state.reading || hole.offset <= state.next) continue;
    state.next = hole.offset;
    return Reached{hole.split, hole.offset};
  }
  if (!lost_.empty()) {
    const Lost lost = lost_.front();
    lost_.pop_front();
    return lost;
  }
  return membership_.next_event();
}

void KafkaReader::on_error(rd_kafka_resp_err_t code, const char* reason) {
  if (code == RD_KAFKA_RESP_ERR__FATAL) return on_fatal_error();
  if (code == RD_KAFKA_RESP_ERR__AUTHENTICATION && !membership_.ever_assigned()) {
    // A broker that knew us yesterday may be ill for a while; one that never did will not change its mind.
    return fail(
        make_error(Fault::fatal, "the brokers of " + config_.bootstrap_servers + " refuse to let this job in", code));
  }
  if (code == RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN) {
    client_.log().line(LogLevel::warning,
                       "no broker of " + config_.bootstrap_servers + " can be reached; trying again until one can");
    return;
  }
  client_.log().line(LogLevel::warning, reason, {{"code", rd_kafka_err2name(code)}});
}

void KafkaReader::on_fatal_error() {
  std::array<char, 512> text{};
  const auto code = rd_kafka_fatal_error(client_.get(), text.data(), text.size());
  // The brokers say "fenced" to a static member that they have forgotten during an outage as well as to one that
  // another process has replaced. The ledger knows which: start again and let the take-over decide.
  broken_ = meaning_of(code, false) == Meaning::fenced;
  fail(make_error(broken_ ? Fault::retryable : Fault::fatal, std::string{"the Kafka client stopped: "} + text.data(),
                  code));
}

// A broker that is just coming back may answer that the cluster has none. librdkafka then forgets those it knew, and in
// some orders of events never looks for others (confluentinc/librdkafka#5301): the member would be idle for good.
void KafkaReader::on_statistics(std::string_view json) {
  const KnownBrokers brokers = known_brokers(json);
  if (brokers.any_up) {
    silences_ = 0;
    return;
  }
  ++silences_;
  // One that it has forgotten may still be counted, so a long silence is enough: in an ordinary outage this does no
  // harm, but librdkafka remembers each time, hence ever more rarely.
  const bool long_silence = silences_ % silences_min == 0 && std::has_single_bit(silences_ / silences_min);
  if (brokers.any && !long_silence) return;
  client_.log().line(LogLevel::warning,
                     "the Kafka client has lost all brokers; beginning again with " + config_.bootstrap_servers);
  rd_kafka_brokers_add(client_.get(), config_.bootstrap_servers.c_str());
}

void KafkaReader::fail(Error error) {
  if (!failure_) failure_ = std::move(error);
}

void KafkaReader::throw_failure() {
  if (failure_) throw *std::exchange(failure_, std::nullopt);
  if (topic_check_at_ && Clock::now() >= *topic_check_at_) check_missing_topics();
}

void KafkaReader::check_missing_topics() {
  topic_check_at_.reset();
  for (const std::string& topic : config_.topics) {
    const auto exists = topic_exists(client_, topic, short_query);
    if (!exists) topic_check_at_ = Clock::now() + missing_topic_wait;
    if (exists.value_or(true)) continue;
    throw make_error(Fault::fatal, "topic " + topic + " does not exist on " + config_.bootstrap_servers,
                     RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART);
  }
}

// The broker only says that the position is not there.
void KafkaReader::take_lost(SplitState& state) {
  const std::string code = rd_kafka_err2name(RD_KAFKA_RESP_ERR_OFFSET_OUT_OF_RANGE);
  const std::string place = "position " + to_string(state.name, state.next) + " is not in the log";
  Lost lost{state.index, state.next, 0, 0};
  try {
    lost.begin = list_offsets(client_, {state.name}, RD_KAFKA_OFFSET_SPEC_EARLIEST, short_query).at(state.name);
    lost.end = list_offsets(client_, {state.name}, RD_KAFKA_OFFSET_SPEC_LATEST, short_query).at(state.name);
  } catch (const Error&) {
    return fail(Error(Fault::retryable, place + ", and the broker does not say what is", code));
  }
  if (lost.begin <= state.next && state.next <= lost.end) {
    return fail(Error(Fault::retryable,
                      place + ", which holds " + std::to_string(lost.begin) + " to " + std::to_string(lost.end) +
                          ", yet a broker says so; its leader may just have changed",
                      code));
  }
  state.reading = false;
  lost_.push_back(lost);
}

Positions KafkaReader::start_positions(const std::vector<Split>& splits) {
  return kafka::start_positions(client_, config_, splits);
}

Positions KafkaReader::group_positions(const std::vector<Split>& splits) {
  return kafka::group_positions(client_, config_, splits);
}

TopicIds KafkaReader::topic_ids(const std::vector<Split>& splits) {
  return kafka::topic_ids(client_, splits);
}

void KafkaReader::start(const Positions& from) {
  for (const auto& [split, position] : from) {
    // A hole seen before the seek says nothing about what is read after it.
    std::erase_if(holes_, [&](const Hole& hole) { return splits_.at(hole.split).name == split; });
    std::erase_if(lost_, [&](const Lost& lost) { return splits_.at(lost.split).name == split; });
  }
  membership_.start(from);
}

void KafkaReader::release(const std::vector<Split>& splits) {
  commits_.send(Clock::now());
  membership_.release(splits);
}

void KafkaReader::pause() {
  holes_.clear();
  lost_.clear();
  membership_.pause();
}

bool KafkaReader::caught_up() const {
  if (rd_kafka_queue_length(queue_.get()) > 0) return false;
  for (const SplitState& state : splits_) {
    if (!state.assigned) continue;
    if (!state.reading) return false;
    // Behind an open transaction the log goes on, but not for us.
    if (state.at_end) continue;
    std::int64_t low = RD_KAFKA_OFFSET_INVALID;
    std::int64_t high = RD_KAFKA_OFFSET_INVALID;
    rd_kafka_get_watermark_offsets(client_.get(), state.name.topic.c_str(), state.name.partition, &low, &high);
    if (high < 0 || state.next < high) return false;
  }
  return true;
}

Positions KafkaReader::known_ends() const {
  Positions ends;
  for (const SplitState& state : splits_) {
    if (!state.assigned) continue;
    std::int64_t low = RD_KAFKA_OFFSET_INVALID;
    std::int64_t high = RD_KAFKA_OFFSET_INVALID;
    rd_kafka_get_watermark_offsets(client_.get(), state.name.topic.c_str(), state.name.partition, &low, &high);
    if (high >= 0) ends[state.name] = high;
  }
  return ends;
}

void KafkaReader::committed(const Positions& positions) noexcept {
  try {
    for (const auto& [split, position] : positions) {
      const SplitState* const state = splits_.find(split.topic, split.partition);
      if (state != nullptr && state->owned) commits_.note(split, position);
    }
    commits_.send_if_due(Clock::now());
  } catch (const std::exception& error) {
    client_.log().line(LogLevel::debug, std::string{"the group's offsets could not be committed: "} + error.what());
  }
}

bool KafkaReader::still_assigned(const Positions& ledger) {
  const bool is_member = commits_.accepted(ledger, group_query_wait);
  // librdkafka has news for this reader, but waits for an answer to the old ones first, which nobody can give any more.
  broken_ = broken_ || !is_member;
  return is_member;
}

void KafkaReader::commit_now(const Positions& positions) {
  commits_.commit_now(positions, group_commit_wait);
}

// Asks over a connection of its own: on the reader's each answer would have to wait behind a fetch that waits for
// records.
bool KafkaReader::others_read() {
  const std::string& instance = config_.group_instance_prefix;
  if (instance.empty() || !membership_.ever_assigned()) return false;
  std::string problem = "the brokers did not answer";
  try {
    Client query{query_conf(config_), client_name(config_, "query"), config_.log, {}};
    const auto others = others_in_group(query, config_.group_id, instance, others_query_wait);
    if (others) return *others;
  } catch (const Error& error) {
    problem = error.what();
  }
  client_.log().line(LogLevel::info,
                     "it is not known whether others read in the group, so this member's place is kept "
                     "until session.timeout.ms is over: " +
                         problem);
  return false;
}

void KafkaReader::close() noexcept {
  if (std::exchange(closed_, true)) return;
  try {
    records_.clear();
    batch_.clear();
    commits_.finish(last_commit_wait);
    // Whoever comes back alone goes on at once with the place that was kept for it; others are not to wait for it.
    const bool for_good = others_read();
    membership_.leave(queue_.get(), leave_wait, for_good);
  } catch (const std::exception& error) {
    client_.log().line(LogLevel::warning, std::string{"leaving the consumer group failed: "} + error.what());
  }
}

}  // namespace sluice::kafka
