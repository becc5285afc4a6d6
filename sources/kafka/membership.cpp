#include "sources/kafka/membership.h"

#include <array>
#include <string_view>
#include <utility>

#include "core/model/error.h"
#include "sources/kafka/errors.h"

namespace sluice::kafka {

void Membership::subscribe(const std::vector<std::string>& topics) {
  const PartitionsHandle list = new_partitions();
  for (const std::string& topic : topics) add(list, {topic, RD_KAFKA_PARTITION_UA});
  const auto code = rd_kafka_subscribe(client_.get(), list.get());
  if (code != RD_KAFKA_RESP_ERR_NO_ERROR) {
    throw make_error(Fault::fatal, "the topics of the Kafka source cannot be subscribed to", code);
  }
}

void Membership::on_rebalance(rd_kafka_resp_err_t code, const rd_kafka_topic_partition_list_t* partitions) {
  answer_owed_ = true;
  assign_owed_ = code == RD_KAFKA_RESP_ERR__ASSIGN_PARTITIONS;
  if (leaving_) return;
  if (code == RD_KAFKA_RESP_ERR__ASSIGN_PARTITIONS) {
    rebalances_.push_back({false, false, to_splits(partitions)});
    return;
  }
  Rebalance revocation{true, rd_kafka_assignment_lost(client_.get()) != 0, to_splits(partitions)};
  if (code != RD_KAFKA_RESP_ERR__REVOKE_PARTITIONS) {
    // Neither given nor taken: the library could not rebalance. All splits are given up, and the group starts anew.
    client_.log().line(LogLevel::warning, "the consumer group could not rebalance, so all splits are given up: " +
                                              std::string{rd_kafka_err2str(code)});
    rd_kafka_assign(client_.get(), nullptr);
    answer_owed_ = false;
    revocation = {true, true, {}};
    for (SplitState& state : splits_) {
      state.assigned = false;
      if (state.owned) revocation.splits.push_back(state.name);
    }
  }
  revocation_open_ = true;
  revoking_.insert(revoking_.end(), revocation.splits.begin(), revocation.splits.end());
  rebalances_.push_back(std::move(revocation));
}

std::optional<SourceEvent> Membership::next_event() {
  while (!rebalances_.empty()) {
    const Rebalance event = std::move(rebalances_.front());
    rebalances_.pop_front();
    if (event.revoked) {
      if (!event.splits.empty()) return Revoked{event.splits, event.lost};
      release({});
      continue;
    }
    if (std::string_view{rd_kafka_rebalance_protocol(client_.get())} == "EAGER") {
      throw Error(Fault::fatal,
                  "the consumer group hands all partitions over at once (eager protocol), which would take splits away "
                  "in the middle of an epoch. Give this job a group.id of its own.");
    }
    if (event.splits.empty()) {
      assign(new_partitions());
      continue;
    }
    for (const Split& split : event.splits) {
      SplitState& state = splits_.add(split);
      state.next = 0;
      state.owned = true;
      state.reading = state.at_end = false;
    }
    ever_assigned_ = true;
    return Assigned{event.splits};
  }
  return std::nullopt;
}

void Membership::start(const Positions& from) {
  std::vector<SplitState*> now;
  for (const auto& [split, position] : from) {
    SplitState& state = splits_.add(split);
    if (!state.owned) {
      throw Error(Fault::retryable, "split " + to_string(split) + " does not belong to this reader any more");
    }
    state.next = position;
    state.reading = state.at_end = false;
    // Records from before wait in librdkafka's queue; until they are dropped none is let through.
    if (revocation_open_) {
      starts_later_.push_back(&state);
    } else {
      now.push_back(&state);
    }
  }
  reassign(now);
}

// A seek fails after OFFSET_OUT_OF_RANGE (F56), and it can meet the rest of an older fetch (F59). Assigning anew starts
// the partition's fetcher from nothing in every case.
void Membership::reassign(const std::vector<SplitState*>& states) {
  if (states.empty()) return;
  const PartitionsHandle old = new_partitions();
  const PartitionsHandle fresh = new_partitions();
  for (const SplitState* state : states) {
    if (state->assigned) add(old, state->name);
    add(fresh, state->name, state->next);
  }
  if (old->cnt > 0) {
    unassign(old);
    for (SplitState* state : states) state->assigned = false;
  }
  assign(fresh);
  for (SplitState* state : states) state->assigned = state->reading = true;
}

void Membership::release(const std::vector<Split>& splits) {
  // One answer settles the whole revocation, so whatever else it took leaves with it.
  std::vector<Split> leaving = splits;
  leaving.insert(leaving.end(), revoking_.begin(), revoking_.end());
  const PartitionsHandle list = new_partitions();
  for (const Split& split : leaving) {
    SplitState& state = splits_.add(split);
    if (state.assigned) add(list, split);
    state.owned = state.assigned = state.reading = state.at_end = false;
  }
  if (revocation_open_ || list->cnt > 0) unassign(list);
  revocation_open_ = false;
  revoking_.clear();

  std::vector<SplitState*> starts = std::exchange(starts_later_, {});
  std::erase_if(starts, [](const SplitState* state) { return !state->owned || state->reading; });
  reassign(starts);
}

// Not by rd_kafka_pause_partitions: a resume that meets the start of a fetcher is dropped as outdated
// (librdkafka 2.14), and the partition is never fetched again.
void Membership::pause() {
  starts_later_.clear();
  for (SplitState& state : splits_) state.reading = false;
  // An open revocation is answered once, by release(), which comes soon.
  if (revocation_open_) return;
  const PartitionsHandle list = new_partitions();
  for (SplitState& state : splits_) {
    if (state.assigned) add(list, state.name);
  }
  if (list->cnt == 0) return;
  unassign(list);
  for (SplitState& state : splits_) state.assigned = false;
}

void Membership::leave(rd_kafka_queue_t* queue, std::chrono::milliseconds wait_max, bool for_good) {
  leaving_ = true;
  rebalances_.clear();
  for (SplitState& state : splits_) state.owned = state.assigned = state.reading = false;
  if (for_good) give_up_place(queue, wait_max);
  // A client that stopped for good, as a fenced one does, has no group to say goodbye to.
  if (const ErrorHandle failed{rd_kafka_consumer_close_queue(client_.get(), queue)}; failed) return;
  const auto deadline = std::chrono::steady_clock::now() + wait_max;
  // From here on any answer gives everything back, and one is all that librdkafka (2.14) ever waits for, be it to a
  // rebalance from before or to the one that closing began. To a second one, which nobody expects, it might never
  // return.
  bool answered = false;
  while (rd_kafka_consumer_closed(client_.get()) == 0 && std::chrono::steady_clock::now() < deadline) {
    if (answer_owed_ && !answered) {
      answer();
      answered = true;
    }
    drop_rest(queue);
  }
}

// librdkafka (2.14) tells the group of a static member's leave when it unsubscribes, not when it closes. It has no name
// in the group any more when that was sent, or begun.
void Membership::give_up_place(rd_kafka_queue_t* queue, std::chrono::milliseconds wait_max) {
  const auto deadline = std::chrono::steady_clock::now() + wait_max;
  const auto has_place = [this] {
    char* const id = rd_kafka_memberid(client_.get());
    const bool has = id != nullptr && *id != '\0';
    if (id != nullptr) rd_kafka_mem_free(client_.get(), id);
    return has;
  };
  if (!has_place() || rd_kafka_unsubscribe(client_.get()) != RD_KAFKA_RESP_ERR_NO_ERROR) return;
  while (has_place() && std::chrono::steady_clock::now() < deadline) {
    if (answer_owed_) answer();
    drop_rest(queue);
  }
}

// Takes nothing of what is given, and gives back what is taken.
void Membership::answer() {
  const PartitionsHandle none = new_partitions();
  const ErrorHandle ignored{assign_owed_ ? rd_kafka_incremental_assign(client_.get(), none.get())
                                         : rd_kafka_incremental_unassign(client_.get(), none.get())};
  answer_owed_ = false;
}

// Waits a moment for the callback, and drops what else is in the queue.
void Membership::drop_rest(rd_kafka_queue_t* queue) {
  std::array<rd_kafka_message_t*, 64> rest{};
  const auto count = rd_kafka_consume_batch_queue(queue, 10, rest.data(), rest.size());
  for (ssize_t i = 0; i < count; ++i) rd_kafka_message_destroy(rest[static_cast<std::size_t>(i)]);
}

void Membership::assign(const PartitionsHandle& list) {
  check(rd_kafka_incremental_assign(client_.get(), list.get()), "take");
  answer_owed_ = false;
}

void Membership::unassign(const PartitionsHandle& list) {
  check(rd_kafka_incremental_unassign(client_.get(), list.get()), "hand back");
  answer_owed_ = false;
}

void Membership::check(rd_kafka_error_t* error, const char* action) {
  const ErrorHandle failed{error};
  if (!failed) return;
  const auto code = rd_kafka_error_code(failed.get());
  const bool fatal = rd_kafka_error_is_fatal(failed.get()) != 0;
  throw Error(fatal ? Fault::fatal : Fault::retryable,
              std::string{"the Kafka client cannot "} + action + " splits: " + rd_kafka_error_string(failed.get()),
              rd_kafka_err2name(code));
}

}  // namespace sluice::kafka
