#include "sources/kafka/advisory_commits.h"

#include <string>
#include <thread>

#include "sources/kafka/errors.h"

namespace sluice::kafka {

namespace {

constexpr std::chrono::milliseconds interval_min{500};
constexpr std::chrono::milliseconds generation_wait{100};

PartitionsHandle to_list(const Positions& positions) {
  PartitionsHandle list = new_partitions();
  for (const auto& [split, position] : positions) add(list, split, position);
  return list;
}

rd_kafka_resp_err_t commit_and_wait(rd_kafka_t* client, const Positions& positions,
                                    std::chrono::milliseconds wait_max) {
  const PartitionsHandle list = to_list(positions);
  const QueueHandle answers{rd_kafka_queue_new(client)};
  auto code = rd_kafka_commit_queue(client, list.get(), answers.get(), nullptr, nullptr);
  if (code != RD_KAFKA_RESP_ERR_NO_ERROR) return code;
  const EventHandle answer{rd_kafka_queue_poll(answers.get(), static_cast<int>(wait_max.count()))};
  if (!answer) return RD_KAFKA_RESP_ERR__TIMED_OUT;
  code = rd_kafka_event_error(answer.get());
  const auto* told = rd_kafka_event_topic_partition_list(answer.get());
  for (int i = 0; told != nullptr && code == RD_KAFKA_RESP_ERR_NO_ERROR && i < told->cnt; ++i) {
    code = told->elems[i].err;
  }
  return code;
}

}  // namespace

void AdvisoryCommits::send_if_due(Clock::time_point now) {
  if (!waiting_.empty() && now - sent_at_ >= interval_min) send(now);
}

void AdvisoryCommits::send(Clock::time_point now) {
  if (waiting_.empty()) return;
  const PartitionsHandle list = to_list(waiting_);
  // What becomes of it is told to the commit callback; nothing here depends on it.
  rd_kafka_commit(client_, list.get(), 1);
  waiting_.clear();
  sent_at_ = now;
}

void AdvisoryCommits::commit_now(const Positions& positions, std::chrono::milliseconds wait_max) {
  // What waits of these splits is older, and would turn them back.
  for (const auto& [split, position] : positions) waiting_.erase(split);
  const auto code = commit_and_wait(client_, positions, wait_max);
  if (code == RD_KAFKA_RESP_ERR_NO_ERROR) return;
  throw make_error(fault_of_query(code), "the positions could not be committed to the group", code);
}

bool AdvisoryCommits::accepted(const Positions& positions, std::chrono::milliseconds wait_max) {
  for (const auto& [split, position] : positions) waiting_.erase(split);
  auto code = commit_and_wait(client_, positions, wait_max);
  // Also said to a member that is about to hear of the next generation.
  for (int tries = 0; code == RD_KAFKA_RESP_ERR_ILLEGAL_GENERATION && tries < 3; ++tries) {
    std::this_thread::sleep_for(generation_wait);
    code = commit_and_wait(client_, positions, wait_max);
  }
  return code != RD_KAFKA_RESP_ERR_UNKNOWN_MEMBER_ID && code != RD_KAFKA_RESP_ERR_ILLEGAL_GENERATION &&
         code != RD_KAFKA_RESP_ERR_FENCED_INSTANCE_ID && code != RD_KAFKA_RESP_ERR__FATAL;
}

void AdvisoryCommits::finish(std::chrono::milliseconds wait_max) {
  if (waiting_.empty()) return;
  commit_and_wait(client_, waiting_, wait_max);  // whatever it says: these are for lag tools
  waiting_.clear();
}

}  // namespace sluice::kafka
