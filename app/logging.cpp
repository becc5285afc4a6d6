#include "app/logging.h"

#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include <memory>
#include <nlohmann/json.hpp>

namespace sluice::app {

namespace {

spdlog::level::level_enum level_of(LogLevel level) {
  switch (level) {
    case LogLevel::debug:
      return spdlog::level::debug;
    case LogLevel::info:
      return spdlog::level::info;
    case LogLevel::warning:
      return spdlog::level::warn;
    case LogLevel::error:
      return spdlog::level::err;
  }
  return spdlog::level::info;
}

std::string as_text(std::string_view message, const LogFields& fields) {
  std::string line(message);
  for (const auto& [name, value] : fields) {
    if (!value.empty()) line += " " + name + "=" + value;
  }
  return line;
}

// spdlog writes the time and the level around it, see the pattern.
std::string as_json(std::string_view message, const LogFields& fields) {
  nlohmann::ordered_json line;
  line["message"] = message;
  for (const auto& [name, value] : fields) {
    if (!value.empty()) line[name] = value;
  }
  const std::string text = line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  return text.substr(1);  // the brace that the pattern has written
}

}  // namespace

Log make_log(const std::string& format, const std::string& level) {
  auto logger = std::make_shared<spdlog::logger>("sluice", std::make_shared<spdlog::sinks::stderr_color_sink_mt>());
  logger->set_level(level == "warning" ? spdlog::level::warn : spdlog::level::from_str(level));
  const bool json = format == "json";
  if (json) {
    logger->set_pattern(R"({"time":"%Y-%m-%dT%H:%M:%S.%eZ","level":"%l",%v)", spdlog::pattern_time_type::utc);
  } else {
    logger->set_pattern("%Y-%m-%d %H:%M:%S.%e %^%-7l%$ %v");
  }
  return [logger, json](LogLevel at, std::string_view message, const LogFields& fields) {
    const auto to = level_of(at);
    if (logger->should_log(to)) logger->log(to, json ? as_json(message, fields) : as_text(message, fields));
  };
}

}  // namespace sluice::app
