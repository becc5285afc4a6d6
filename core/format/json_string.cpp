#include "core/format/json_string.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>

namespace sluice {

namespace {

constexpr std::uint32_t high_surrogate_first = 0xD800;
constexpr std::uint32_t low_surrogate_first = 0xDC00;
constexpr std::uint32_t low_surrogate_last = 0xDFFF;
constexpr std::uint32_t supplementary_first = 0x10000;

// What the letter after a backslash stands for; 0: no such escape.
char simple_escape(char letter) {
  switch (letter) {
    case '"':
      return '"';
    case '\\':
      return '\\';
    case '/':
      return '/';
    case 'b':
      return '\b';
    case 'f':
      return '\f';
    case 'n':
      return '\n';
    case 'r':
      return '\r';
    case 't':
      return '\t';
    default:
      return 0;
  }
}

// The number behind \u at the start of `text`; takes it off.
std::optional<std::uint32_t> take_unicode_escape(std::string_view& text) {
  if (text.size() < 6 || text[0] != '\\' || text[1] != 'u') return std::nullopt;
  std::uint32_t number = 0;
  for (const char c : text.substr(2, 4)) {
    number <<= 4;
    if (c >= '0' && c <= '9') {
      number |= static_cast<std::uint32_t>(c - '0');
    } else if (c >= 'a' && c <= 'f') {
      number |= static_cast<std::uint32_t>(c - 'a' + 10);
    } else if (c >= 'A' && c <= 'F') {
      number |= static_cast<std::uint32_t>(c - 'A' + 10);
    } else {
      return std::nullopt;
    }
  }
  text.remove_prefix(6);
  return number;
}

// One character, which may be written as a surrogate pair.
std::optional<std::uint32_t> take_code_point(std::string_view& text) {
  const auto first = take_unicode_escape(text);
  if (!first || *first < high_surrogate_first || *first > low_surrogate_last) return first;
  if (*first >= low_surrogate_first) return std::nullopt;
  const auto second = take_unicode_escape(text);
  if (!second || *second < low_surrogate_first || *second > low_surrogate_last) return std::nullopt;
  return supplementary_first + ((*first - high_surrogate_first) << 10) + (*second - low_surrogate_first);
}

char* write_utf8(std::uint32_t code_point, char* out) {
  const auto put = [&out](std::uint32_t byte) { *out++ = static_cast<char>(byte); };
  if (code_point < 0x80) {
    put(code_point);
  } else if (code_point < 0x800) {
    put(0xC0 | (code_point >> 6));
    put(0x80 | (code_point & 0x3F));
  } else if (code_point < supplementary_first) {
    put(0xE0 | (code_point >> 12));
    put(0x80 | ((code_point >> 6) & 0x3F));
    put(0x80 | (code_point & 0x3F));
  } else {
    put(0xF0 | (code_point >> 18));
    put(0x80 | ((code_point >> 12) & 0x3F));
    put(0x80 | ((code_point >> 6) & 0x3F));
    put(0x80 | (code_point & 0x3F));
  }
  return out;
}

}  // namespace

bool unescape_json(std::string_view raw, char* out, std::size_t& length) {
  const char* const start = out;
  while (!raw.empty()) {
    const std::size_t plain = std::min(raw.find('\\'), raw.size());
    std::memcpy(out, raw.data(), plain);
    out += plain;
    raw.remove_prefix(plain);
    if (raw.empty()) break;
    if (raw.size() < 2) return false;
    if (const char simple = simple_escape(raw[1])) {
      *out++ = simple;
      raw.remove_prefix(2);
      continue;
    }
    const auto code_point = take_code_point(raw);
    if (!code_point) return false;
    out = write_utf8(*code_point, out);
  }
  length = static_cast<std::size_t>(out - start);
  return true;
}

}  // namespace sluice
