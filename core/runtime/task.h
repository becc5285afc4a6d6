// One task: source -> decode -> sink as one fused chain, driven turn by turn. It owns its reader, decoders and writer
// and executes what EpochMachine and RestartPolicy decide. A thread calls step() in a loop; a simulation calls it as it
// likes.
//
// Whatever fails ends the epoch: the writer and its session are dropped, the splits are taken over again under a new
// generation, the reader seeks to what the ledger says. Nothing is retried inside a transaction.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/api/dead_letter.h"
#include "core/api/decoder.h"
#include "core/api/log.h"
#include "core/api/sink.h"
#include "core/api/source.h"
#include "core/model/error.h"
#include "core/protocol/bad_share.h"
#include "core/protocol/epoch_machine.h"
#include "core/protocol/isolation.h"
#include "core/protocol/restart_policy.h"
#include "core/protocol/surprise.h"
#include "core/runtime/clock.h"
#include "core/runtime/progress.h"

namespace sluice {

// What becomes of a record that cannot be written.
enum class OnBadRecord {
  stop,       // the job ends, and nothing of the epoch is written
  set_aside,  // a dead letter, in the same transaction as the good rows
  send,       // a dead letter, to the outbox
  drop,       // counted and logged
};

// Who keeps the positions, and when they move.
enum class Delivery {
  exactly_once,   // the sink, in the transaction of the rows
  at_least_once,  // the source, after the rows are committed
  at_most_once,   // the source, before they are
};

struct TaskSettings {
  std::size_t number = 0;
  EpochLimits epochs;
  RestartSettings restart;
  std::optional<Positions> ends;  // bounded: no record at or behind these is read
  std::size_t batch_rows_max = 1000;
  OnBadRecord on_bad_record = OnBadRecord::stop;
  double bad_share_max = 1;          // more of the records than this: the job ends
  bool accept_lost_records = false;  // go on where the log, the ledger or the topic is not what it was
  Delivery delivery = Delivery::exactly_once;
};

// Everything is borrowed and outlives the task.
struct TaskParts {
  Source& source;
  Format& format;
  Sink& sink;
  Clock& clock;
  Log log;
  TaskProgress& progress;
  LetterOutbox* outbox = nullptr;  // needed by OnBadRecord::send
};

class Task {
 public:
  enum class Wish {
    go_on,
    finish,  // end the open epoch with a commit, hand the splits back, leave
    abort,   // roll back and leave
  };

  // `reader` may be open already, so that it joins its group while the sink is looked at; else the task opens one.
  Task(const TaskSettings& settings, const TaskParts& parts, std::unique_ptr<SourceReader> reader = nullptr);
  ~Task();
  Task(const Task&) = delete;
  Task& operator=(const Task&) = delete;

  // One turn; blocks for at most about 100 ms waiting for records, longer when the database makes it wait.
  // False: the task has ended, by wish or by failure().
  bool step(Wish wish);

  // Why it ended: the error that no restart mends. Its text names the record where there is one.
  const std::optional<Error>& failure() const { return failure_; }

  // Bounded runs: everything this task owns is read to its bound and committed. It may still be given more.
  bool drained() const { return drained_; }

 private:
  struct Lane {  // one topic's way to its table
    std::unique_ptr<Decoder> decoder;
    std::unique_ptr<Batch> batch;
  };

  void turn(Wish wish);
  void handle(const Idle&) {}
  void handle(const Records& event);
  void handle(const Reached& event);
  void handle(const Lost& event);
  void handle(const Assigned& event);
  void handle(const Revoked& event);

  void write_run(const std::string& topic, std::span<const Record> run);
  void take_rejects(std::span<const Record> records);
  void deliver_letters();
  void log_letters(std::uint64_t count);
  Lane& lane(const std::string& topic, std::span<const Record> sample);
  OwnedSplit* owned(SplitIndex index);

  void take_over_assigned();
  TakeOverFacts facts_about(const std::vector<Split>& splits, const Claims& held);
  void face(const std::vector<Surprise>& found, TakeOverFacts& facts);
  bool still_assigned(const TakeOverFacts& facts);
  Claims take_over_at_starts(const std::vector<Surprise>& found, TakeOverFacts& facts);
  Claims take_over(const TakeOverFacts& facts);
  void move_to(const Split& split, std::int64_t position);
  bool is_another_topic(const Split& split);
  void commit_epoch();
  void commit(const Cut& cut);
  void release(const Claims& claims);
  void give_up_epoch() noexcept;
  void drop_reader();
  void pause_reader() noexcept;
  void leave(Wish wish);
  void on_error(const Error& error);
  void start_isolating(const Error& error);
  void report();
  LogFields fields() const;

  TaskSettings settings_;
  TaskParts parts_;
  EpochMachine machine_;
  RestartPolicy restarts_;

  std::unique_ptr<SourceReader> reader_;
  std::unique_ptr<SinkWriter> writer_;
  std::map<std::string, Lane> lanes_;
  std::vector<Reject> rejects_;
  std::vector<Record> accepted_;

  std::set<Split> assigned_;              // by the reader; those not in the machine are not taken over yet
  Claims held_before_;                    // by a reader that broke, until the next take-over
  std::vector<OwnedSplit*> by_index_;     // cache of machine_.find() by the reader's index
  std::optional<Clock::Time> resume_at_;  // backing off until then
  Isolation isolation_;
  BadShare bad_share_;
  std::uint64_t letters_ = 0;         // of the open epoch
  std::vector<DeadLetter> outgoing_;  // of the open epoch, not with the outbox yet
  std::string first_letter_;          // where and why, of the open epoch
  std::optional<Error> failure_;
  bool reclaim_all_ = false;  // an epoch was given up: what the ledger says is not known
  bool take_over_in_doubt_ = false;
  bool drained_ = false;
  bool ended_ = false;
};

}  // namespace sluice
