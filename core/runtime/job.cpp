#include "core/runtime/job.h"

#include <algorithm>
#include <future>
#include <utility>

namespace sluice {

// A task and its thread. The thread writes `ended` last, after which the task is the coordinator's to look at.
class Job::Worker {
 public:
  Worker(Job& job, const TaskSettings& settings, const TaskParts& parts, std::unique_ptr<SourceReader> reader)
      : job_(job), task_(settings, parts, std::move(reader)) {
    thread_ = std::thread([this] { run(); });
  }
  ~Worker() {
    if (thread_.joinable()) thread_.join();
  }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  bool ended() const { return ended_; }
  bool drained() const { return drained_; }
  const std::optional<Error>& failure() const { return task_.failure(); }

 private:
  void run() {
    while (task_.step(job_.wish_)) {
      if (task_.drained() != drained_) {
        drained_ = task_.drained();
        job_.notice();
      }
    }
    ended_ = true;
    job_.notice();
  }

  Job& job_;
  Task task_;
  std::atomic<bool> ended_{false};
  std::atomic<bool> drained_{false};
  std::thread thread_;
};

Job::Job(const JobSettings& settings, Source& source, Format& format, Sink& sink, Clock& clock, Log log,
         LetterOutbox* outbox)
    : settings_(settings),
      source_(source),
      format_(format),
      sink_(sink),
      clock_(clock),
      log_(std::move(log)),
      outbox_(outbox) {
  for (std::size_t number = 0; number < settings_.parallelism; ++number) {
    progress_.push_back(std::make_unique<TaskProgress>());
  }
}

Job::~Job() = default;

std::optional<Error> Job::run() {
  // Joining the group, asking for the ends and looking at the sink each take a round trip or more: all three at once.
  std::vector<std::unique_ptr<SourceReader>> readers;
  try {
    for (std::size_t number = 0; number < settings_.parallelism; ++number)
      readers.push_back(source_.open_reader(number));
  } catch (const Error& error) {
    return error;
  }
  std::future<Positions> ends;
  if (settings_.bounded) ends = std::async(std::launch::async, [this] { return source_.end_positions(); });
  std::optional<Error> failed = retried([this] { sink_.prepare(settings_.migrate); });
  if (!failed && settings_.bounded) {
    failed = retried([&] { ends_ = ends.valid() ? ends.get() : source_.end_positions(); });
  }
  if (failed) return failed;
  if (wish_ != Task::Wish::go_on) return std::nullopt;
  for (std::size_t number = 0; number < settings_.parallelism; ++number) {
    TaskSettings task;
    task.number = number;
    task.epochs = settings_.epochs;
    task.restart = settings_.restart;
    task.ends = ends_;
    task.on_bad_record = settings_.on_bad_record;
    task.bad_share_max = settings_.bad_share_max;
    task.accept_lost_records = settings_.accept_lost_records;
    task.delivery = settings_.delivery;
    const TaskParts parts{source_, format_, sink_, clock_, log_, *progress_[number], outbox_};
    workers_.push_back(std::make_unique<Worker>(*this, task, parts, std::move(readers[number])));
  }
  watch();
  for (const auto& worker : workers_) {
    if (worker->failure() && (!failed || worker->failure()->fault() == Fault::fenced)) failed = worker->failure();
  }
  workers_.clear();
  return failed;
}

// A server that is not up yet is waited for as a restart would wait.
std::optional<Error> Job::retried(const std::function<void()>& attempt) {
  RestartPolicy restarts(settings_.restart);
  while (wish_ == Task::Wish::go_on) {
    try {
      attempt();
      return std::nullopt;
    } catch (const Error& error) {
      const bool again = error.fault() == Fault::retryable || error.fault() == Fault::in_doubt;
      const auto delay = again ? restarts.failed(clock_.now()) : std::nullopt;
      if (!delay) return error;
      log_(LogLevel::warning, std::string("cannot start yet: ") + error.what(),
           {{"again_in_ms", std::to_string(delay->count())}});
      wait_for(*delay);
    }
  }
  return std::nullopt;
}

void Job::stop() {
  Task::Wish expected = Task::Wish::go_on;
  wish_.compare_exchange_strong(expected, Task::Wish::finish);
  notice();
}

Progress Job::progress() const {
  Progress sum;
  for (const auto& task : progress_) sum.add(*task);
  return sum;
}

void Job::watch() {
  std::unique_lock lock(mutex_);
  std::uint64_t seen = notices_;
  for (;;) {
    lock.unlock();
    const auto failed = std::find_if(workers_.begin(), workers_.end(),
                                     [](const auto& worker) { return worker->ended() && worker->failure(); });
    // What one task may not write, no other should add to: the job stops as a whole, and at once.
    if (failed != workers_.end()) wish_ = Task::Wish::abort;
    if (std::all_of(workers_.begin(), workers_.end(), [](const auto& worker) { return worker->ended(); })) return;
    if (wish_ == Task::Wish::go_on && all_drained() && reached_ends()) stop();
    lock.lock();
    // The bound is for bounded runs that share their splits with other processes: nobody tells us that those are done.
    changed_.wait_for(lock, std::chrono::milliseconds(200), [&] { return notices_ != seen; });
    seen = notices_;
  }
}

bool Job::all_drained() const {
  return ends_ && std::all_of(workers_.begin(), workers_.end(), [](const auto& worker) { return worker->drained(); });
}

// Who keeps the positions decides whether a bounded run is done: some of its splits may be another process's to finish.
bool Job::reached_ends() const {
  try {
    const bool by_sink = settings_.delivery == Delivery::exactly_once;
    const Positions ledger = by_sink ? sink_.positions() : source_.committed_positions();
    bool beyond = false;
    for (const auto& [split, end] : *ends_) {
      const auto position = ledger.find(split);
      if (position == ledger.end() || position->second < end) return false;
      beyond = beyond || position->second > end;
    }
    return !beyond || !ahead_of_log(ledger);
  } catch (const Error&) {
    return false;  // asked again soon
  }
}

// A ledger that is ahead of a log's end is no end reached: the task that reads the split will hear of it soon.
bool Job::ahead_of_log(const Positions& ledger) const {
  const Positions now = source_.end_positions();
  return std::any_of(now.begin(), now.end(), [&](const auto& end) {
    const auto position = ledger.find(end.first);
    return position != ledger.end() && position->second > end.second;
  });
}

bool Job::wait_for(std::chrono::milliseconds delay) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, delay, [this] { return wish_ != Task::Wish::go_on; });
}

void Job::notice() {
  {
    const std::scoped_lock lock(mutex_);
    ++notices_;
  }
  changed_.notify_all();
}

}  // namespace sluice
