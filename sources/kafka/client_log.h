// What librdkafka says about itself, as log lines of Sluice: the broker named, the levels in proportion, repeats held
// back.
#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include "core/api/log.h"

namespace sluice::kafka {

// Called from librdkafka's own threads as well as from the reader's.
class ClientLog {
 public:
  using Clock = std::chrono::steady_clock;

  ClientLog(Log log, std::string client_id);

  // A line of librdkafka: syslog level, its short facility name, the text.
  void library_line(int syslog_level, std::string_view facility, std::string_view text, Clock::time_point now);

  // A line of our own. One that differs from an earlier one by digits only is held back for some seconds.
  void line(LogLevel level, std::string_view message, LogFields fields, Clock::time_point now);
  void line(LogLevel level, std::string_view message, LogFields fields = {}) {
    line(level, message, std::move(fields), Clock::now());
  }

 private:
  struct Seen {
    Clock::time_point written_at;
    std::size_t held_back = 0;
  };

  Log log_;
  std::string client_id_;
  std::mutex mutex_;
  std::map<std::string, Seen, std::less<>> seen_;  // by text without its digits
};

}  // namespace sluice::kafka
