// Structured log lines without a logging library in the core: the program that embeds Sluice decides where they go.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sluice {

enum class LogLevel { debug, info, warning, error };

// Key and value of what a line is about: {"split", "orders-3"}. Never a secret, never a value of a row.
using LogFields = std::vector<std::pair<std::string, std::string>>;

// Called from any thread, several at once; must not throw.
using Log = std::function<void(LogLevel level, std::string_view message, const LogFields& fields)>;

}  // namespace sluice
