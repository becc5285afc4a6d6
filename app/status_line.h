// What a running job shows: a line a second on a terminal, a log line every ten seconds elsewhere, a summary at the
// end.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

#include "core/api/log.h"
#include "core/runtime/job.h"

namespace sluice::app {

class StatusLine {
 public:
  // Borrows all of it; starts a thread.
  StatusLine(const Job& job, std::string name, const Log& log);
  ~StatusLine();
  StatusLine(const StatusLine&) = delete;
  StatusLine& operator=(const StatusLine&) = delete;

  // Ends the line and prints the summary to standard output.
  void finish(bool failed);

 private:
  void loop();
  void show(const Progress& now, double rows_per_second);

  const Job& job_;
  std::string name_;
  const Log& log_;
  bool terminal_;
  std::chrono::steady_clock::time_point started_ = std::chrono::steady_clock::now();
  std::mutex mutex_;
  std::condition_variable changed_;
  bool stop_ = false;
  std::thread thread_;
};

// "1,234,567"
std::string with_commas(std::uint64_t number);

}  // namespace sluice::app
