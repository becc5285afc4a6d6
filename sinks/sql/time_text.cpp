#include "sinks/sql/time_text.h"

#include <chrono>
#include <cstddef>

namespace sluice::sql {
namespace {

constexpr auto kNotDate = "is not a date (YYYY-MM-DD)";
constexpr auto kNotTime = "is not a time of day (hh:mm:ss, with up to six digits of a second's fraction)";
constexpr auto kNotTimestamp =
    "is not a timestamp in ISO 8601 (YYYY-MM-DD hh:mm:ss, with up to six digits of a second's fraction, then Z, +hh:mm "
    "or nothing)";
constexpr auto kNoSuchDate = "is a date that does not exist";
constexpr auto kOutOfRange = "is outside the years 0001 to 9999 in UTC";

// Exactly `count` digits at the front of `rest`, or -1.
int take_number(std::string_view& rest, std::size_t count) {
  if (rest.size() < count) return -1;
  int value = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (rest[i] < '0' || rest[i] > '9') return -1;
    value = value * 10 + (rest[i] - '0');
  }
  rest.remove_prefix(count);
  return value;
}

bool take(std::string_view& rest, char expected) {
  if (rest.empty() || rest.front() != expected) return false;
  rest.remove_prefix(1);
  return true;
}

bool take_fraction(std::string_view& rest, std::int64_t& micros) {
  std::size_t digits = 0;
  for (; digits < rest.size() && rest[digits] >= '0' && rest[digits] <= '9'; ++digits) {
    if (digits == 6) return false;
    micros = micros * 10 + (rest[digits] - '0');
  }
  if (digits == 0) return false;
  rest.remove_prefix(digits);
  for (; digits < 6; ++digits) micros *= 10;
  return true;
}

const char* take_date(std::string_view& rest, std::int64_t& days) {
  const int year = take_number(rest, 4);
  if (year < 0 || !take(rest, '-')) return kNotDate;
  const int month = take_number(rest, 2);
  if (month < 0 || !take(rest, '-')) return kNotDate;
  const int day = take_number(rest, 2);
  if (day < 0) return kNotDate;
  if (year == 0) return kOutOfRange;
  const std::chrono::year_month_day date{std::chrono::year{year}, std::chrono::month{static_cast<unsigned>(month)},
                                         std::chrono::day{static_cast<unsigned>(day)}};
  if (!date.ok()) return kNoSuchDate;
  days = std::chrono::sys_days{date}.time_since_epoch().count();
  return nullptr;
}

bool take_time(std::string_view& rest, std::int64_t& micros_of_day) {
  const int hour = take_number(rest, 2);
  if (hour < 0 || hour > 23 || !take(rest, ':')) return false;
  const int minute = take_number(rest, 2);
  if (minute < 0 || minute > 59) return false;
  int second = 0;
  std::int64_t fraction = 0;
  if (take(rest, ':')) {
    second = take_number(rest, 2);
    if (second < 0 || second > 59) return false;
    if (take(rest, '.') && !take_fraction(rest, fraction)) return false;
  }
  micros_of_day = ((hour * 60 + minute) * 60LL + second) * 1'000'000 + fraction;
  return true;
}

bool take_offset(std::string_view& rest, std::int64_t& micros) {
  if (rest.empty() || take(rest, 'Z')) return true;
  const bool west = rest.front() == '-';
  if (!west && rest.front() != '+') return false;
  rest.remove_prefix(1);
  const int hour = take_number(rest, 2);
  if (hour < 0 || hour > 23 || !take(rest, ':')) return false;
  const int minute = take_number(rest, 2);
  if (minute < 0 || minute > 59) return false;
  micros = (hour * 60 + minute) * 60'000'000LL;
  if (west) micros = -micros;
  return true;
}

char* print_digits(char* out, std::int64_t value, int count) {
  for (int i = count - 1; i >= 0; --i, value /= 10) out[i] = static_cast<char>('0' + value % 10);
  return out + count;
}

}  // namespace

char* print_date(char* out, std::int64_t days) {
  const std::chrono::year_month_day date{std::chrono::sys_days{std::chrono::days{days}}};
  out = print_digits(out, int{date.year()}, 4);
  *out++ = '-';
  out = print_digits(out, unsigned{date.month()}, 2);
  *out++ = '-';
  return print_digits(out, unsigned{date.day()}, 2);
}

char* print_time(char* out, std::int64_t micros_of_day) {
  const std::int64_t seconds = micros_of_day / 1'000'000;
  out = print_digits(out, seconds / 3600, 2);
  *out++ = ':';
  out = print_digits(out, seconds / 60 % 60, 2);
  *out++ = ':';
  out = print_digits(out, seconds % 60, 2);
  const std::int64_t fraction = micros_of_day % 1'000'000;
  if (fraction == 0) return out;
  *out++ = '.';
  return print_digits(out, fraction, 6);
}

char* print_timestamp(char* out, std::int64_t micros_utc, char separator) {
  std::int64_t days = micros_utc / kMicrosPerDay;
  if (micros_utc % kMicrosPerDay < 0) --days;  // before 1970 the day rounds down, not towards zero
  out = print_date(out, days);
  *out++ = separator;
  return print_time(out, micros_utc - days * kMicrosPerDay);
}

const char* parse_date(std::string_view text, std::int64_t& days) {
  if (const char* reason = take_date(text, days)) return reason;
  return text.empty() ? nullptr : kNotDate;
}

const char* parse_time(std::string_view text, std::int64_t& micros_of_day) {
  return take_time(text, micros_of_day) && text.empty() ? nullptr : kNotTime;
}

const char* parse_timestamp(std::string_view text, std::int64_t& micros_utc) {
  std::int64_t days = 0;
  if (const char* reason = take_date(text, days)) return reason == kNotDate ? kNotTimestamp : reason;
  std::int64_t micros = 0;
  std::int64_t offset = 0;
  if (!text.empty()) {
    if (!take(text, 'T') && !take(text, ' ')) return kNotTimestamp;
    if (!take_time(text, micros) || !take_offset(text, offset) || !text.empty()) return kNotTimestamp;
  }
  micros_utc = days * kMicrosPerDay + micros - offset;
  return micros_in_range(micros_utc) ? nullptr : kOutOfRange;
}

}  // namespace sluice::sql
