// A member of the job's consumer group that reads the splits which the group gives it.
#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <optional>
#include <string_view>

#include "core/api/source.h"
#include "core/model/error.h"
#include "sources/kafka/advisory_commits.h"
#include "sources/kafka/client.h"
#include "sources/kafka/kafka_source.h"
#include "sources/kafka/membership.h"
#include "sources/kafka/message_batch.h"
#include "sources/kafka/split_table.h"

namespace sluice::kafka {

class KafkaReader final : public SourceReader {
 public:
  KafkaReader(const KafkaConfig& config, std::size_t task);
  ~KafkaReader() override;

  SourceEvent poll(std::size_t records_max, std::chrono::milliseconds wait_max) override;
  Positions start_positions(const std::vector<Split>& splits) override;
  Positions group_positions(const std::vector<Split>& splits) override;
  TopicIds topic_ids(const std::vector<Split>& splits) override;
  void start(const Positions& from) override;
  void release(const std::vector<Split>& splits) override;
  void pause() override;
  bool caught_up() const override;
  Positions known_ends() const override;
  void committed(const Positions& positions) noexcept override;
  bool still_assigned(const Positions& ledger) override;
  void commit_now(const Positions& positions) override;
  bool broken() const override { return broken_; }
  const Split& split(SplitIndex index) const override { return splits_.at(index).name; }
  void close() noexcept override;

 private:
  struct Hole {
    SplitIndex split = 0;
    std::int64_t offset = 0;  // the split's next one, behind the hole
  };

  void sort_messages();
  SplitState* state_of(const rd_kafka_message_t& message);
  void take_record(SplitState& state, const rd_kafka_message_t& message);
  void take_error(SplitState* state, const rd_kafka_message_t& message);
  std::optional<SourceEvent> next_event();
  void on_error(rd_kafka_resp_err_t code, const char* reason);
  void on_fatal_error();
  void on_statistics(std::string_view json);
  bool others_read();
  void fail(Error error);
  void throw_failure();
  void check_missing_topics();
  void take_lost(SplitState& state);

  KafkaConfig config_;
  SplitTable splits_;
  Client client_;
  QueueHandle queue_;  // the consumer's; gone before the client
  Membership membership_;
  AdvisoryCommits commits_;
  MessageBatch batch_;
  RecordList records_;
  std::deque<Hole> holes_;
  std::deque<Lost> lost_;
  std::optional<Error> failure_;  // thrown once the records before it are delivered
  std::optional<std::chrono::steady_clock::time_point> topic_check_at_;
  std::size_t silences_ = 0;  // statistics in a row in which no broker was up
  bool broken_ = false;
  bool closed_ = false;
};

}  // namespace sluice::kafka
