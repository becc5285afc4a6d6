// Numbers as digits: taken apart and checked against column types without ever passing through a double.
// Pure functions. Where they answer with a reason, nullptr means that the number fits; a reason never holds the value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace sluice::sql {

// -?digits[.digits][e[+-]digits], pointing into the text that it was read from.
struct Number {
  bool negative = false;
  std::string_view whole;
  std::string_view fraction;
  std::int64_t exponent = 0;    // no larger than any text can mean: clamped to +-1,000,000,000
  std::size_t zeros_front = 0;  // digits before the first one that counts
  std::size_t size = 0;         // digits from the first to the last that is not zero; 0: the number is zero

  // The i-th digit that counts, '0' behind the last one.
  char digit(std::size_t index) const;
  // How many digits that count lie before the decimal point; <= 0: 0.00d...
  std::int64_t point() const { return static_cast<std::int64_t>(whole.size() - zeros_front) + exponent; }
};

// Nothing when the text is anything but a number: blanks, a plus sign, NaN and Infinity included.
std::optional<Number> parse_number(std::string_view text);

const char* to_int64(const Number& number, std::int64_t& value);
const char* to_uint64(const Number& number, std::uint64_t& value);

// Does it fit numeric(precision, scale) after it was rounded, half away from zero, to `scale` digits behind the point?
// Without a precision: can an unlimited numeric hold every digit?
const char* check_numeric(const Number& number, std::optional<int> precision, int scale);

// `digits` have the grammar of Number. Rounding is the column's own business, overflow and underflow are refused.
const char* check_float64(std::string_view digits);
const char* check_float32(std::string_view digits);

}  // namespace sluice::sql
