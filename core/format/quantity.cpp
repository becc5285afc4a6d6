#include "core/format/quantity.h"

#include <array>
#include <charconv>
#include <limits>
#include <span>
#include <system_error>

namespace sluice::format {

namespace {

struct Unit {
  std::string_view name;
  std::uint64_t factor;
};

constexpr std::array duration_units{Unit{"ms", 1}, Unit{"s", 1000}, Unit{"min", 60'000}, Unit{"h", 3'600'000},
                                    Unit{"d", 86'400'000}};
constexpr std::uint64_t duration_max_ms = 3650ULL * 86'400'000ULL;

constexpr std::array size_units{Unit{"", 1},
                                Unit{"B", 1},
                                Unit{"KB", 1000},
                                Unit{"MB", 1'000'000},
                                Unit{"GB", 1'000'000'000},
                                Unit{"TB", 1'000'000'000'000},
                                Unit{"KiB", 1ULL << 10U},
                                Unit{"MiB", 1ULL << 20U},
                                Unit{"GiB", 1ULL << 30U},
                                Unit{"TiB", 1ULL << 40U}};
constexpr std::uint64_t size_max = std::numeric_limits<std::int64_t>::max();

std::optional<std::uint64_t> parse_amount(std::string_view text, std::span<const Unit> units, std::uint64_t max) {
  std::uint64_t count = 0;
  const auto* end = text.data() + text.size();
  const auto [after, error] = std::from_chars(text.data(), end, count);
  if (error != std::errc{}) return std::nullopt;
  const auto written = text.substr(static_cast<std::size_t>(after - text.data()));
  for (const auto& unit : units) {
    if (unit.name != written) continue;
    if (count > max / unit.factor) return std::nullopt;
    return count * unit.factor;
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::int64_t> parse_whole(std::string_view text) {
  std::int64_t number = 0;
  const auto* end = text.data() + text.size();
  const auto [after, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc{} || after != end) return std::nullopt;
  return number;
}

std::optional<std::chrono::milliseconds> parse_duration(std::string_view text) {
  if (text == "0") return std::chrono::milliseconds{0};
  const auto amount = parse_amount(text, duration_units, duration_max_ms);
  if (!amount) return std::nullopt;
  return std::chrono::milliseconds{static_cast<std::int64_t>(*amount)};
}

std::optional<std::uint64_t> parse_size(std::string_view text) {
  return parse_amount(text, size_units, size_max);
}

}  // namespace sluice::format
