#include "sinks/sql/number_text.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

namespace sluice::sql {
namespace {

constexpr std::int64_t kExponentClamp = 1'000'000'000;
// What an unlimited numeric of PostgreSQL holds; ten bytes of text must not become a number of a megabyte.
constexpr std::int64_t kExponentMax = 16'383;
constexpr std::int64_t kFractionDigitsMax = 16'383;
constexpr std::int64_t kWholeDigitsMax = 131'072;

constexpr auto kExponentReason = "its exponent is out of range (-16383 to 16383)";

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

std::string_view take_digits(std::string_view& rest) {
  std::size_t count = 0;
  while (count < rest.size() && is_digit(rest[count])) ++count;
  const std::string_view digits = rest.substr(0, count);
  rest.remove_prefix(count);
  return digits;
}

bool take_exponent(std::string_view& rest, std::int64_t& exponent) {
  rest.remove_prefix(1);
  bool negative = false;
  if (!rest.empty() && (rest.front() == '+' || rest.front() == '-')) {
    negative = rest.front() == '-';
    rest.remove_prefix(1);
  }
  const std::string_view digits = take_digits(rest);
  if (digits.empty()) return false;
  for (const char digit : digits) exponent = std::min(exponent * 10 + (digit - '0'), kExponentClamp);
  if (negative) exponent = -exponent;
  return true;
}

void count_digits(Number& number) {
  const std::size_t all = number.whole.size() + number.fraction.size();
  const auto at = [&](std::size_t i) {
    return i < number.whole.size() ? number.whole[i] : number.fraction[i - number.whole.size()];
  };
  std::size_t first = 0;
  while (first < all && at(first) == '0') ++first;
  std::size_t end = all;
  while (end > first && at(end - 1) == '0') --end;
  number.zeros_front = first;
  number.size = end - first;
}

template <typename Real>
const char* check_float(std::string_view digits) {
  Real value = 0;
  const auto [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (end != digits.data() + digits.size()) return "is not a number";
  // Whether a result out of range is an error or an infinity or zero differs between library versions.
  if (code != std::errc() || std::isinf(value)) return "is out of the range of the column's floating-point type";
  if (value == 0) {
    const auto number = parse_number(digits);
    if (!number || number->size != 0) return "is too close to zero for the column's floating-point type";
  }
  return nullptr;
}

constexpr auto kTooLarge = "is out of the range of the column's integer type";

// Of a whole number, without its sign.
const char* magnitude_of(const Number& number, std::uint64_t& value) {
  value = 0;
  if (number.size == 0) return nullptr;
  const std::int64_t point = number.point();
  if (point < static_cast<std::int64_t>(number.size)) return "is not a whole number";
  if (point > 20) return kTooLarge;
  for (std::size_t i = 0; i < static_cast<std::size_t>(point); ++i) {
    const auto digit = static_cast<std::uint64_t>(number.digit(i) - '0');
    if (value > (std::numeric_limits<std::uint64_t>::max() - digit) / 10) return kTooLarge;
    value = value * 10 + digit;
  }
  return nullptr;
}

}  // namespace

char Number::digit(std::size_t index) const {
  if (index >= size) return '0';
  const std::size_t place = zeros_front + index;
  return place < whole.size() ? whole[place] : fraction[place - whole.size()];
}

std::optional<Number> parse_number(std::string_view text) {
  Number number;
  std::string_view rest = text;
  if (!rest.empty() && rest.front() == '-') {
    number.negative = true;
    rest.remove_prefix(1);
  }
  number.whole = take_digits(rest);
  if (number.whole.empty()) return std::nullopt;
  if (!rest.empty() && rest.front() == '.') {
    rest.remove_prefix(1);
    number.fraction = take_digits(rest);
    if (number.fraction.empty()) return std::nullopt;
  }
  if (!rest.empty() && (rest.front() == 'e' || rest.front() == 'E') && !take_exponent(rest, number.exponent)) {
    return std::nullopt;
  }
  if (!rest.empty()) return std::nullopt;
  count_digits(number);
  return number;
}

const char* to_uint64(const Number& number, std::uint64_t& value) {
  if (const char* reason = magnitude_of(number, value)) return reason;
  return number.negative && value > 0 ? kTooLarge : nullptr;
}

const char* to_int64(const Number& number, std::int64_t& value) {
  std::uint64_t magnitude = 0;
  if (const char* reason = magnitude_of(number, magnitude)) return reason;
  const std::uint64_t limit = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  if (magnitude > limit + (number.negative ? 1 : 0)) return kTooLarge;
  value = static_cast<std::int64_t>(number.negative ? ~magnitude + 1 : magnitude);
  return nullptr;
}

const char* check_numeric(const Number& number, std::optional<int> precision, int scale) {
  if (number.exponent > kExponentMax || number.exponent < -kExponentMax) return kExponentReason;
  std::int64_t point = number.point();
  if (!precision) {
    if (static_cast<std::int64_t>(number.fraction.size()) - number.exponent > kFractionDigitsMax) {
      return "has more than 16383 digits behind the decimal point";
    }
    if (number.size > 0 && point > kWholeDigitsMax) return "has more than 131072 digits before the decimal point";
    return nullptr;
  }
  if (number.size == 0) return nullptr;
  const std::int64_t kept = point + scale;  // digits that survive the rounding
  if (kept < 0) return nullptr;             // rounds to zero
  const auto cut = static_cast<std::size_t>(kept);
  if (cut < number.size && number.digit(cut) >= '5') {
    std::size_t nines = 0;
    while (nines < cut && number.digit(nines) == '9') ++nines;
    if (nines == cut) ++point;  // 99.995 becomes 100.00
  } else if (kept == 0) {
    return nullptr;  // rounds to zero
  }
  return point > *precision - scale ? "has more digits before the decimal point than the column's precision allows"
                                    : nullptr;
}

const char* check_float64(std::string_view digits) {
  return check_float<double>(digits);
}

const char* check_float32(std::string_view digits) {
  return check_float<float>(digits);
}

}  // namespace sluice::sql
