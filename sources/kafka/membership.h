// The reader's place in its consumer group: what the group gives and takes, and what librdkafka fetches because of it.
#pragma once

#include <chrono>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "core/api/source.h"
#include "sources/kafka/client.h"
#include "sources/kafka/handles.h"
#include "sources/kafka/split_table.h"

namespace sluice::kafka {

// Used by the reader's thread only. References are borrowed.
//
// librdkafka's callback only writes down what happened; the group then waits until start() or release() has answered.
// So a split leaves after its epoch has ended, and comes only with the position that the ledger names.
class Membership {
 public:
  Membership(Client& client, SplitTable& splits) : client_(client), splits_(splits) {}

  void subscribe(const std::vector<std::string>& topics);

  // The callback.
  void on_rebalance(rd_kafka_resp_err_t code, const rd_kafka_topic_partition_list_t* partitions);

  bool has_news() const { return !rebalances_.empty(); }
  // What the reader must tell next; events without splits are answered here and never told.
  std::optional<SourceEvent> next_event();

  // As SourceReader says. While a revocation is unanswered, splits that librdkafka fetches already are moved to their
  // new positions only after release(): the group would take the move for the answer.
  void start(const Positions& from);
  void release(const std::vector<Split>& splits);
  void pause();

  // Gives every split back and closes, within `wait_max`, or twice that with `for_good`. A static member's place in the
  // group is kept for it as long as a session lasts; `for_good` gives it up, so that others get its splits at once.
  void leave(rd_kafka_queue_t* queue, std::chrono::milliseconds wait_max, bool for_good);

  bool ever_assigned() const { return ever_assigned_; }

 private:
  struct Rebalance {
    bool revoked = false;
    bool lost = false;
    std::vector<Split> splits;
  };

  void give_up_place(rd_kafka_queue_t* queue, std::chrono::milliseconds wait_max);
  void answer();
  void drop_rest(rd_kafka_queue_t* queue);
  void reassign(const std::vector<SplitState*>& states);
  void assign(const PartitionsHandle& list);
  void unassign(const PartitionsHandle& list);
  void check(rd_kafka_error_t* error, const char* action);

  Client& client_;
  SplitTable& splits_;
  std::deque<Rebalance> rebalances_;       // not told yet
  std::vector<Split> revoking_;            // told or not, but not released yet
  bool revocation_open_ = false;           // the group waits for release()
  std::vector<SplitState*> starts_later_;  // started while it waits
  bool ever_assigned_ = false;
  bool leaving_ = false;
  bool answer_owed_ = false;  // the group waits for assign() or unassign() since the last callback
  bool assign_owed_ = false;  // and for which of the two
};

}  // namespace sluice::kafka
