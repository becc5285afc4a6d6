// `sluice run`: the job on its threads, signals, the status line, the summary.
#include <sched.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <optional>
#include <thread>

#include "app/commands.h"
#include "app/exit_code.h"
#include "app/savepoint.h"
#include "app/status_line.h"
#include "app/wiring.h"
#include "core/format/job_reader.h"
#include "core/runtime/job.h"

namespace sluice::app {

namespace {

// A thread that loads and wakes up for more has time: it must not push the server of the same machine from its core in
// the middle of a row. Measured with broker and database on the same two cores: 3 % faster into PostgreSQL, 7 % into
// MySQL and MariaDB. Threads inherit it. A policy that the operator chose (chrt) is left alone. Source: sched(7).
void give_way_to_servers() {
  const sched_param no_priority{};
  if (sched_getscheduler(0) == SCHED_OTHER) sched_setscheduler(0, SCHED_BATCH, &no_priority);  // best effort
}

// Waits for SIGTERM and SIGINT on a thread of its own: the first asks the job to finish its epochs, the second ends the
// process where it stands, and the database rolls back what is open.
class StopSignals {
 public:
  explicit StopSignals(Job& job, const Log& log) : job_(job), log_(log) {
    sigemptyset(&signals_);
    sigaddset(&signals_, SIGTERM);
    sigaddset(&signals_, SIGINT);
    sigaddset(&signals_, SIGUSR2);                   // our own: the end of this thread
    pthread_sigmask(SIG_BLOCK, &signals_, nullptr);  // before any other thread starts: they inherit it
    thread_ = std::thread([this] { wait(); });
  }
  ~StopSignals() {
    pthread_kill(thread_.native_handle(), SIGUSR2);
    thread_.join();
  }
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

 private:
  void wait() {
    for (bool asked = false;; asked = true) {
      int signal = 0;
      sigwait(&signals_, &signal);
      if (signal == SIGUSR2) return;
      if (asked) {
        std::fputs("sluice: stopped at once; the open epochs are rolled back\n", stderr);
        _exit(failed);
      }
      log_(LogLevel::info, "stopping: the open epochs are finished first", {{"signal", strsignal(signal)}});
      job_.stop();
    }
  }

  Job& job_;
  const Log& log_;
  sigset_t signals_{};
  std::thread thread_;
};

}  // namespace

int run_command(const JobArguments& arguments, const RunArguments& how, const Log& log) {
  give_way_to_servers();
  const format::Job config = format::read_job(arguments.file, arguments.overrides);
  std::optional<Slot> slot;
  if (config.source.type == format::SourceType::kafka) slot.emplace(config.checkpoint.directory, config.name);
  const Wiring wiring = wire(config, slot ? &*slot : nullptr, log);
  if (!how.from.empty()) {
    if (config.guarantee != format::Guarantee::exactly_once) {
      throw format::JobError("sluice run --from: the positions of this job are kept by its consumer group");
    }
    wiring.target().prepare(!how.no_migrate);
    start_from(how.from, wiring, log);
  }
  const auto outbox = wire_outbox(config, log);
  SystemClock clock;
  Job job(job_settings(config, how.bounded, !how.no_migrate), *wiring.source, *wiring.format, wiring.target(), clock,
          log, outbox.get());
  std::optional<Error> failure;
  {
    const StopSignals signals(job, log);
    StatusLine status(job, config.name, log);
    failure = job.run();
    status.finish(failure.has_value());
  }
  if (!failure) return done;
  log(LogLevel::error, failure->what(),
      {{"fault", std::string(to_string(failure->fault()))}, {"code", failure->code()}});
  return exit_code(failure->fault());
}

}  // namespace sluice::app
