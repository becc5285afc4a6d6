// Numbers, durations and sizes as people write them.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>

namespace sluice::format {

// Digits with an optional minus and nothing else; nothing if it does not fit.
std::optional<std::int64_t> parse_whole(std::string_view text);

// "500ms", "5s", "10min", "1h", "2d", and "0". At most ten years, so that adding one to a clock is safe.
std::optional<std::chrono::milliseconds> parse_duration(std::string_view text);

// "256MiB", "10MB", "64KiB", "1GiB" (B, KB, MB, GB, TB count in thousands, KiB … TiB in 1,024), and plain bytes:
// "4096".
std::optional<std::uint64_t> parse_size(std::string_view text);

}  // namespace sluice::format
