#include "sinks/sql/byte_text.h"

#include <array>
#include <cstdint>

namespace sluice::sql {
namespace {

constexpr std::uint8_t kNoDigit = 64;

constexpr std::array<std::uint8_t, 256> base64_digits() {
  std::array<std::uint8_t, 256> digits{};
  digits.fill(kNoDigit);
  constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  for (std::size_t i = 0; i < kAlphabet.size(); ++i) {
    digits[static_cast<unsigned char>(kAlphabet[i])] = static_cast<std::uint8_t>(i);
  }
  return digits;
}

bool is_hex(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

bool is_hyphen_place(std::size_t index) {
  return index == 8 || index == 13 || index == 18 || index == 23;
}

}  // namespace

void append_hex(std::string_view bytes, std::string& out) {
  constexpr std::string_view digits = "0123456789abcdef";
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    out += digits[byte >> 4U];
    out += digits[byte & 15U];
  }
}

bool decode_base64(std::string_view text, std::string& out) {
  static constexpr auto kDigits = base64_digits();
  out.clear();
  if (text.size() % 4 != 0) return false;
  std::size_t padding = 0;
  while (padding < 2 && padding < text.size() && text[text.size() - 1 - padding] == '=') ++padding;
  const std::string_view digits = text.substr(0, text.size() - padding);
  out.reserve(digits.size() * 3 / 4);
  std::uint32_t bits = 0;
  unsigned count = 0;
  for (const char c : digits) {
    const std::uint8_t digit = kDigits[static_cast<unsigned char>(c)];
    if (digit == kNoDigit) return false;
    bits = (bits << 6U | digit) & 0xFFFFFFU;
    count += 6;
    if (count < 8) continue;
    count -= 8;
    out.push_back(static_cast<char>(bits >> count & 0xFFU));
  }
  // Bits behind the last byte must be zero, or two texts would stand for the same bytes.
  return (bits & ((1U << count) - 1U)) == 0;
}

bool canonical_uuid(std::string_view text, char* out) {
  const bool hyphens = text.size() == kUuidSize;
  if (!hyphens && text.size() != 32) return false;
  std::size_t from = 0;
  for (std::size_t to = 0; to < kUuidSize; ++to) {
    if (is_hyphen_place(to)) {
      if (hyphens && text[from++] != '-') return false;
      out[to] = '-';
      continue;
    }
    if (!is_hex(text[from])) return false;
    out[to] = text[from++];
  }
  return true;
}

bool has_nul_escape(std::string_view json) {
  std::size_t at = json.find('\\');
  while (at != std::string_view::npos) {
    if (json.substr(at + 1, 5) == "u0000") return true;
    at = json.find('\\', at + 2);  // the character behind a backslash never starts an escape
  }
  return false;
}

}  // namespace sluice::sql
