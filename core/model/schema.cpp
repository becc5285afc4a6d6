#include "core/model/schema.h"

#include <array>
#include <string_view>
#include <utility>

namespace sluice {

namespace {

constexpr std::array<std::pair<std::string_view, CellSource::From>, 5> metadata_names{{
    {"@topic", CellSource::From::topic},
    {"@partition", CellSource::From::partition},
    {"@offset", CellSource::From::offset},
    {"@timestamp", CellSource::From::timestamp},
    {"@key", CellSource::From::key},
}};
constexpr std::string_view header_prefix = "@headers.";
constexpr std::string_view key_prefix = "@key.";

}  // namespace

std::optional<CellSource> CellSource::parse(const std::string& text) {
  if (text.empty()) return std::nullopt;
  for (const auto& [name, from] : metadata_names) {
    if (text == name) return CellSource{from, {}};
  }
  if (text.starts_with(header_prefix)) {
    if (text.size() == header_prefix.size()) return std::nullopt;
    return CellSource{From::header, {text.substr(header_prefix.size())}};
  }
  CellSource source;
  std::size_t start = 0;
  if (text.starts_with(key_prefix)) {
    source.from = From::key_path;
    start = key_prefix.size();
  } else if (text.front() == '@') {
    return std::nullopt;
  }
  for (std::size_t dot = text.find('.', start); dot != std::string::npos; dot = text.find('.', start)) {
    source.path.push_back(text.substr(start, dot - start));
    start = dot + 1;
  }
  source.path.push_back(text.substr(start));
  for (const auto& step : source.path) {
    if (step.empty()) return std::nullopt;
  }
  return source;
}

std::string to_string(const CellSource& source) {
  for (const auto& [name, from] : metadata_names) {
    if (source.from == from) return std::string(name);
  }
  std::string text;
  if (source.from == CellSource::From::header) text = header_prefix;
  if (source.from == CellSource::From::key_path) text = key_prefix;
  for (const auto& step : source.path) {
    if (&step != &source.path.front()) text += '.';
    text += step;
  }
  return text;
}

}  // namespace sluice
