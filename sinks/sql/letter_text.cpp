#include "sinks/sql/letter_text.h"

#include <nlohmann/json.hpp>

namespace sluice::sql {

namespace {

using nlohmann::json;

bool is_utf8(const std::string& text) {
  try {
    static_cast<void>(json(text).dump());
    return true;
  } catch (const json::type_error&) {
    return false;
  }
}

int digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

std::string headers_json(const LetterHeaders& headers) {
  json all = json::array();
  for (const auto& [name, value] : headers) {
    json one{{"name", is_utf8(name) ? name : to_hex(name)}};
    if (is_utf8(value)) {
      one["value"] = value;
    } else {
      one["hex"] = to_hex(value);
    }
    all.push_back(std::move(one));
  }
  // NUL is fine in JSON, as an escape.
  return all.dump();
}

LetterHeaders parse_headers(std::string_view text) {
  LetterHeaders headers;
  const json all = json::parse(text, nullptr, false);
  if (!all.is_array()) return headers;
  for (const auto& one : all) {
    if (!one.is_object() || !one.contains("name") || !one["name"].is_string()) continue;
    std::string value = one.contains("hex") ? from_hex(one.value("hex", "")).value_or("") : one.value("value", "");
    headers.emplace_back(one["name"].get<std::string>(), std::move(value));
  }
  return headers;
}

std::string to_hex(std::string_view bytes) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string hex;
  hex.reserve(2 * bytes.size());
  for (const char byte : bytes) {
    const auto bits = static_cast<unsigned char>(byte);
    hex += digits[bits >> 4U];
    hex += digits[bits & 15U];
  }
  return hex;
}

std::optional<std::string> from_hex(std::string_view hex) {
  if (hex.size() % 2 != 0) return std::nullopt;
  std::string bytes;
  bytes.reserve(hex.size() / 2);
  for (std::size_t i = 0; i < hex.size(); i += 2) {
    const int high = digit(hex[i]);
    const int low = digit(hex[i + 1]);
    if (high < 0 || low < 0) return std::nullopt;
    bytes += static_cast<char>(high * 16 + low);
  }
  return bytes;
}

}  // namespace sluice::sql
