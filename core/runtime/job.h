// A job: its tasks, each on a thread of its own, until they are done, told to stop, or one of them fails for good.
// The coordinator is the thread that calls run(): it starts the tasks, watches them, ends a bounded run, and makes one
// task's failure the end of all.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "core/api/decoder.h"
#include "core/api/log.h"
#include "core/api/sink.h"
#include "core/api/source.h"
#include "core/model/error.h"
#include "core/runtime/clock.h"
#include "core/runtime/progress.h"
#include "core/runtime/task.h"

namespace sluice {

struct JobSettings {
  std::size_t parallelism = 1;
  EpochLimits epochs;
  RestartSettings restart;
  bool bounded = false;
  OnBadRecord on_bad_record = OnBadRecord::stop;
  double bad_share_max = 1;
  bool accept_lost_records = false;
  Delivery delivery = Delivery::exactly_once;
  bool migrate = true;  // create or upgrade the recovery tables before the first epoch
};

class Job {
 public:
  // Everything is borrowed and outlives the job.
  Job(const JobSettings& settings, Source& source, Format& format, Sink& sink, Clock& clock, Log log,
      LetterOutbox* outbox = nullptr);
  ~Job();
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  // Blocks until the job has ended. Nothing: done, or stopped in order. Call once.
  std::optional<Error> run();

  // From any thread: every task ends its epoch with a commit and leaves.
  void stop();

  // From any thread while run() runs.
  Progress progress() const;

 private:
  class Worker;

  std::optional<Error> retried(const std::function<void()>& attempt);
  void watch();
  bool all_drained() const;
  bool reached_ends() const;
  bool ahead_of_log(const Positions& ledger) const;
  bool wait_for(std::chrono::milliseconds delay);
  void notice();

  JobSettings settings_;
  Source& source_;
  Format& format_;
  Sink& sink_;
  Clock& clock_;
  Log log_;
  LetterOutbox* outbox_;
  std::optional<Positions> ends_;
  std::vector<std::unique_ptr<TaskProgress>> progress_;
  std::vector<std::unique_ptr<Worker>> workers_;

  std::atomic<Task::Wish> wish_{Task::Wish::go_on};
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::uint64_t notices_ = 0;
};

}  // namespace sluice
