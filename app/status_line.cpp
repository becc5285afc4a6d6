#include "app/status_line.h"

#include <unistd.h>

#include <array>
#include <cstdio>
#include <utility>

namespace sluice::app {

using std::chrono::duration;
using std::chrono::steady_clock;

namespace {

constexpr int seconds_between_log_lines = 10;

std::string bytes_text(std::uint64_t bytes) {
  constexpr std::array<const char*, 5> units{"B", "KiB", "MiB", "GiB", "TiB"};
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (; value >= 1024 && unit + 1 < units.size(); ++unit) value /= 1024;
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), unit == 0 ? "%.0f %s" : "%.1f %s", value, units[unit]);
  return text.data();
}

std::string seconds_text(double seconds) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.2f", seconds);
  return text.data();
}

std::string lag_text(const Progress& now) {
  return now.lag ? with_commas(static_cast<std::uint64_t>(*now.lag)) : "unknown";
}

}  // namespace

std::string with_commas(std::uint64_t number) {
  std::string text = std::to_string(number);
  for (auto at = static_cast<std::ptrdiff_t>(text.size()) - 3; at > 0; at -= 3)
    text.insert(static_cast<std::size_t>(at), ",");
  return text;
}

StatusLine::StatusLine(const Job& job, std::string name, const Log& log)
    : job_(job), name_(std::move(name)), log_(log), terminal_(isatty(STDERR_FILENO) == 1), thread_([this] {
        loop();
      }) {}

StatusLine::~StatusLine() {
  {
    const std::scoped_lock lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void StatusLine::loop() {
  const auto step = std::chrono::seconds(terminal_ ? 1 : seconds_between_log_lines);
  Progress before;
  auto then = started_;
  std::unique_lock lock(mutex_);
  while (!changed_.wait_for(lock, step, [this] { return stop_; })) {
    lock.unlock();
    const Progress now = job_.progress();
    const auto at = steady_clock::now();
    const bool quiet = !terminal_ && now.epochs == before.epochs && now.restarts == before.restarts;
    if (!quiet) show(now, static_cast<double>(now.rows - before.rows) / duration<double>(at - then).count());
    before = now;
    then = at;
    lock.lock();
  }
}

void StatusLine::show(const Progress& now, double rows_per_second) {
  const auto rate = static_cast<std::uint64_t>(rows_per_second);
  if (!terminal_) {
    log_(LogLevel::info, "progress",
         {{"rows", std::to_string(now.rows)},
          {"rows_per_second", std::to_string(rate)},
          {"lag", now.lag ? std::to_string(*now.lag) : "unknown"},
          {"epoch", std::to_string(now.last_epoch)},
          {"bytes", std::to_string(now.bytes)},
          {"splits", std::to_string(now.splits)},
          {"dead_letters", std::to_string(now.letters)},
          {"restarts", std::to_string(now.restarts)}});
    return;
  }
  std::string line = name_ + "  " + with_commas(now.rows) + " rows  " + with_commas(rate) + "/s  lag " + lag_text(now) +
                     "  epoch " + std::to_string(now.last_epoch) + "  " + bytes_text(now.bytes);
  if (now.letters > 0) line += "  " + with_commas(now.letters) + " bad";
  if (now.backing_off > 0) line += "  waiting to restart";
  if (now.splits == 0 && now.backing_off == 0) line += "  no partitions yet";
  std::fprintf(stderr, "\r\033[K%s", line.c_str());
  std::fflush(stderr);
}

void StatusLine::finish(bool failed) {
  {
    const std::scoped_lock lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  thread_.join();
  if (terminal_) std::fputs("\r\033[K", stderr);
  const Progress sum = job_.progress();
  const double seconds = duration<double>(steady_clock::now() - started_).count();
  const auto rate = static_cast<std::uint64_t>(static_cast<double>(sum.rows) / seconds);
  const std::string letters = sum.letters == 0 ? "" : ", " + with_commas(sum.letters) + " bad records put aside";
  std::printf("%s: %s rows (%s) in %s s, %s rows/s, %s epochs, %s restarts, %s%s\n", name_.c_str(),
              with_commas(sum.rows).c_str(), bytes_text(sum.bytes).c_str(), seconds_text(seconds).c_str(),
              with_commas(rate).c_str(), with_commas(sum.epochs).c_str(), with_commas(sum.restarts).c_str(),
              (failed ? "ended by an error" : "lag " + lag_text(sum)).c_str(), letters.c_str());
}

}  // namespace sluice::app
