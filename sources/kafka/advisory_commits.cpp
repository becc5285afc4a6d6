#include "sources/kafka/advisory_commits.h"

namespace sluice::kafka {

namespace {

constexpr std::chrono::milliseconds interval_min{500};

PartitionsHandle to_list(const Positions& positions) {
  PartitionsHandle list = new_partitions();
  for (const auto& [split, position] : positions) add(list, split, position);
  return list;
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

void AdvisoryCommits::finish(std::chrono::milliseconds wait_max) {
  if (waiting_.empty()) return;
  const PartitionsHandle list = to_list(waiting_);
  const QueueHandle answers{rd_kafka_queue_new(client_)};
  if (rd_kafka_commit_queue(client_, list.get(), answers.get(), nullptr, nullptr) == RD_KAFKA_RESP_ERR_NO_ERROR) {
    const EventHandle answer{rd_kafka_queue_poll(answers.get(), static_cast<int>(wait_max.count()))};
  }
  waiting_.clear();
}

}  // namespace sluice::kafka
