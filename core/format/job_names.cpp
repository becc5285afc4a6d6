#include "core/format/job_names.h"

namespace sluice::format {

namespace {

template <typename Names, typename Enum>
std::string_view text_of(const Names& names, Enum value) {
  for (const auto& name : names) {
    if (name.value == value) return name.text;
  }
  return "?";
}

}  // namespace

std::string_view to_string(Guarantee value) {
  return text_of(guarantee_names, value);
}
std::string_view to_string(SourceType value) {
  return text_of(source_type_names, value);
}
std::string_view to_string(StartMode value) {
  return text_of(start_mode_names, value);
}
std::string_view to_string(ValueFormat value) {
  return text_of(value_format_names, value);
}
std::string_view to_string(KeyFormat value) {
  return text_of(key_format_names, value);
}
std::string_view to_string(SinkType value) {
  return text_of(sink_type_names, value);
}
std::string_view to_string(InsertMode value) {
  return text_of(insert_mode_names, value);
}
std::string_view to_string(PkMode value) {
  return text_of(pk_mode_names, value);
}
std::string_view to_string(CommitProtocol value) {
  return text_of(commit_protocol_names, value);
}
std::string_view to_string(RestartStrategy value) {
  return text_of(restart_strategy_names, value);
}
std::string_view to_string(Tolerance value) {
  return text_of(tolerance_names, value);
}

std::string_view to_string(OnLostRecords value) {
  return text_of(on_lost_records_names, value);
}

}  // namespace sluice::format
