#include "sources/kafka/client_log.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace sluice::kafka {

namespace {

constexpr std::chrono::seconds repeat_interval{5};
constexpr std::size_t remembered_max = 256;

// The numbers in librdkafka's lines (times, counts, ports of the local side) change while the news is the same.
std::string without_digits(std::string_view text) {
  std::string kept;
  kept.reserve(text.size());
  std::copy_if(text.begin(), text.end(), std::back_inserter(kept), [](char c) { return c < '0' || c > '9'; });
  return kept;
}

LogLevel level_of(int syslog_level, std::string_view facility) {
  // Lost connections heal by themselves, so they are no errors however loud the library is about them.
  if (facility == "FAIL" || facility == "ERROR") return syslog_level <= 6 ? LogLevel::warning : LogLevel::debug;
  if (syslog_level <= 3) return LogLevel::error;
  if (syslog_level == 4) return LogLevel::warning;
  return syslog_level <= 6 ? LogLevel::info : LogLevel::debug;
}

// "[thrd:localhost:9092/1]: text" -> "localhost:9092/1", and `text` without the prefix.
std::optional<std::string> take_thread_name(std::string_view& text) {
  constexpr std::string_view opening = "[thrd:";
  constexpr std::string_view closing = "]: ";
  if (!text.starts_with(opening)) return std::nullopt;
  const auto end = text.find(closing);
  if (end == std::string_view::npos) return std::nullopt;
  std::string name{text.substr(opening.size(), end - opening.size())};
  text.remove_prefix(end + closing.size());
  return name;
}

}  // namespace

ClientLog::ClientLog(Log log, std::string client_id) : log_(std::move(log)), client_id_(std::move(client_id)) {}

void ClientLog::library_line(int syslog_level, std::string_view facility, std::string_view text,
                             Clock::time_point now) {
  LogFields fields{{"facility", std::string{facility}}};
  const auto thread = take_thread_name(text);
  if (thread && *thread != "main" && *thread != "app") fields.emplace_back("broker", *thread);
  line(level_of(syslog_level, facility), text, std::move(fields), now);
}

void ClientLog::line(LogLevel level, std::string_view message, LogFields fields, Clock::time_point now) {
  if (!log_) return;
  // Who asks for librdkafka's debug contexts wants each line.
  if (level != LogLevel::debug) {
    const std::lock_guard lock{mutex_};
    if (seen_.size() >= remembered_max) seen_.clear();
    const auto [found, fresh] = seen_.try_emplace(without_digits(message), Seen{now, 0});
    if (!fresh && now - found->second.written_at < repeat_interval) {
      ++found->second.held_back;
      return;
    }
    if (found->second.held_back > 0) fields.emplace_back("repeated", std::to_string(found->second.held_back));
    found->second = {now, 0};
  }
  fields.emplace_back("client", client_id_);
  log_(level, message, fields);
}

}  // namespace sluice::kafka
