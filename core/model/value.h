// One cell. Views point into the batch's arena and live as long as the batch.
#pragma once

#include <cstdint>
#include <string_view>
#include <variant>

namespace sluice {

// Exact digits as they were written: -?digits[.digits][e[+-]digits]. Never passes through a double.
struct Decimal {
  std::string_view digits;
  bool operator==(const Decimal&) const = default;
};
struct Timestamp {
  std::int64_t micros_utc = 0;
  bool operator==(const Timestamp&) const = default;
};
struct Text {
  std::string_view utf8;  // valid UTF-8
  bool operator==(const Text&) const = default;
};
struct Bytes {
  std::string_view raw;
  bool operator==(const Bytes&) const = default;
};
struct Json {
  std::string_view text;  // one valid JSON object or array
  bool operator==(const Json&) const = default;
};
using Null = std::monostate;

using Value = std::variant<Null, bool, std::int64_t, double, Decimal, Timestamp, Text, Bytes, Json>;
static_assert(sizeof(Value) == 24, "a cell is three words; rows are copied by the million");

}  // namespace sluice
