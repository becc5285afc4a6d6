// Dates and times as databases write them: proleptic Gregorian calendar, years 0001 to 9999, UTC, microseconds.
// Pure functions. Where they answer with a reason, nullptr means that the text was read; a reason never holds the
// value.
#pragma once

#include <cstdint>
#include <string_view>

namespace sluice::sql {

constexpr std::int64_t kMicrosPerDay = 86'400'000'000;

// What the years 0001 to 9999 span, counted from 1970-01-01.
constexpr std::int64_t kDaysMin = -719'162;
constexpr std::int64_t kDaysMax = 2'932'896;
constexpr bool day_in_range(std::int64_t days) {
  return days >= kDaysMin && days <= kDaysMax;
}
constexpr bool micros_in_range(std::int64_t micros) {
  return micros >= kDaysMin * kMicrosPerDay && micros < (kDaysMax + 1) * kMicrosPerDay;
}

// The longest text that the functions below print.
constexpr std::size_t kTimestampSizeMax = sizeof("YYYY-MM-DD hh:mm:ss.ffffff") - 1;

// They print to `out`, which has room, and return the end. The value is in range. A fraction of zero is left out.
char* print_date(char* out, std::int64_t days);                             // YYYY-MM-DD
char* print_time(char* out, std::int64_t micros_of_day);                    // hh:mm:ss[.ffffff]
char* print_timestamp(char* out, std::int64_t micros_utc, char separator);  // date, separator, time

const char* parse_date(std::string_view text, std::int64_t& days);           // YYYY-MM-DD
const char* parse_time(std::string_view text, std::int64_t& micros_of_day);  // hh:mm[:ss[.f]], up to six digits f

// A date, then perhaps 'T' or a blank with a time, then perhaps Z or +-hh:mm. Without an offset the text is taken as
// UTC.
const char* parse_timestamp(std::string_view text, std::int64_t& micros_utc);

}  // namespace sluice::sql
