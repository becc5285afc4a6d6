#include "core/format/number_text.h"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>

namespace sluice {

namespace {

// Ten to the nineteenth is below 2^64, so that this many digits never wrap around.
constexpr std::ptrdiff_t digits_safe = 19;

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// Eight digits at once: the bits of a word show whether all its bytes are digits, three multiplications add them up.
constexpr std::ptrdiff_t word_digits = 8;
static_assert(std::endian::native == std::endian::little, "the first digit is taken for the lowest byte");

bool take_word_of_digits(const char* at, std::uint64_t& number) {
  std::uint64_t word = 0;
  std::memcpy(&word, at, sizeof word);
  constexpr std::uint64_t high_halves = 0xF0F0F0F0F0F0F0F0;
  constexpr std::uint64_t threes = 0x3030303030303030;
  constexpr std::uint64_t sixes = 0x0606060606060606;  // pushes ':' to '?' out of the row of 0x3x
  if ((word & high_halves) != threes || ((word + sixes) & high_halves) != threes) return false;
  word -= threes;
  word = (word * 10) + (word >> 8);
  constexpr std::uint64_t pairs = 0x000000FF000000FF;
  constexpr std::uint64_t weights_low = 0x000F424000000064;   // 100 + (1000000 << 32)
  constexpr std::uint64_t weights_high = 0x0000271000000001;  // 1 + (10000 << 32)
  word = ((word & pairs) * weights_low + ((word >> 16) & pairs) * weights_high) >> 32;
  number = number * 100'000'000 + static_cast<std::uint32_t>(word);
  return true;
}

const char* skip_digits(const char* at, const char* end) {
  while (at != end && is_digit(*at)) ++at;
  return at;
}

// Of the fraction and the exponent, behind the digits of the integer part.
bool is_number_tail(const char* at, const char* end) {
  if (at != end && *at == '.') {
    const char* const fraction = ++at;
    at = skip_digits(at, end);
    if (at == fraction) return false;
  }
  if (at != end && (*at == 'e' || *at == 'E')) {
    ++at;
    if (at != end && (*at == '+' || *at == '-')) ++at;
    const char* const exponent = at;
    at = skip_digits(at, end);
    if (at == exponent) return false;
  }
  return at == end;
}

}  // namespace

bool read_number(std::string_view text, Value& value) {
  const char* at = text.data();
  const char* const end = at + text.size();
  const bool negative = at != end && *at == '-';
  if (negative) ++at;

  const char* const first = at;
  std::uint64_t magnitude = 0;
  while (end - at >= word_digits && take_word_of_digits(at, magnitude)) at += word_digits;
  for (; at != end && is_digit(*at); ++at) magnitude = magnitude * 10 + static_cast<std::uint64_t>(*at - '0');
  if (at == first || (*first == '0' && at - first > 1)) return false;

  if (at != end) {
    if (!is_number_tail(at, end)) return false;
    value = Decimal{text};
    return true;
  }
  const std::uint64_t magnitude_max =
      static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()) + (negative ? 1 : 0);
  if (at - first > digits_safe || magnitude > magnitude_max) {
    value = Decimal{text};
  } else {
    value = static_cast<std::int64_t>(negative ? 0 - magnitude : magnitude);
  }
  return true;
}

}  // namespace sluice
