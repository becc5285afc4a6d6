// How the job file spells the values of enums; the order is the one in which messages list them.
#pragma once

#include <array>
#include <string_view>

#include "core/format/job.h"

namespace sluice::format {

template <typename Enum>
struct Name {
  Enum value;
  std::string_view text;
};
template <typename Enum>
Name(Enum, std::string_view) -> Name<Enum>;

inline constexpr std::array guarantee_names{Name{Guarantee::exactly_once, "exactly-once"},
                                            Name{Guarantee::at_least_once, "at-least-once"},
                                            Name{Guarantee::at_most_once, "at-most-once"}};
inline constexpr std::array source_type_names{Name{SourceType::kafka, "kafka"}, Name{SourceType::file, "file"}};
inline constexpr std::array start_mode_names{
    Name{StartMode::earliest_offset, "earliest-offset"}, Name{StartMode::latest_offset, "latest-offset"},
    Name{StartMode::group_offsets, "group-offsets"}, Name{StartMode::timestamp, "timestamp"},
    Name{StartMode::specific_offsets, "specific-offsets"}};
inline constexpr std::array value_format_names{Name{ValueFormat::json, "json"},
                                               Name{ValueFormat::json_schema, "json-schema"},
                                               Name{ValueFormat::debezium_json, "debezium-json"},
                                               Name{ValueFormat::avro, "avro"},
                                               Name{ValueFormat::csv, "csv"},
                                               Name{ValueFormat::string, "string"},
                                               Name{ValueFormat::raw, "raw"}};
inline constexpr std::array key_format_names{
    Name{KeyFormat::none, "none"}, Name{KeyFormat::json, "json"},     Name{KeyFormat::json_schema, "json-schema"},
    Name{KeyFormat::avro, "avro"}, Name{KeyFormat::string, "string"}, Name{KeyFormat::raw, "raw"}};
inline constexpr std::array sink_type_names{Name{SinkType::postgres, "postgres"}, Name{SinkType::mysql, "mysql"},
                                            Name{SinkType::mariadb, "mariadb"},   Name{SinkType::sqlite, "sqlite"},
                                            Name{SinkType::kafka, "kafka"},       Name{SinkType::file, "file"}};
inline constexpr std::array insert_mode_names{Name{InsertMode::insert, "insert"}, Name{InsertMode::upsert, "upsert"},
                                              Name{InsertMode::update, "update"}};
inline constexpr std::array pk_mode_names{
    Name{PkMode::none, "none"}, Name{PkMode::kafka, "kafka"}, Name{PkMode::record_key, "record_key"},
    Name{PkMode::record_value, "record_value"}, Name{PkMode::record_header, "record_header"}};
inline constexpr std::array commit_protocol_names{Name{CommitProtocol::ledger, "ledger"},
                                                  Name{CommitProtocol::prepared, "prepared"},
                                                  Name{CommitProtocol::wal, "wal"}, Name{CommitProtocol::none, "none"}};
inline constexpr std::array restart_strategy_names{
    Name{RestartStrategy::exponential_delay, "exponential-delay"}, Name{RestartStrategy::fixed_delay, "fixed-delay"},
    Name{RestartStrategy::failure_rate, "failure-rate"}, Name{RestartStrategy::none, "none"}};
inline constexpr std::array on_lost_records_names{Name{OnLostRecords::fail, "fail"}, Name{OnLostRecords::skip, "skip"}};
inline constexpr std::array checkpoint_place_names{Name{CheckpointPlace::directory, "directory"},
                                                   Name{CheckpointPlace::table, "table"}};
inline constexpr std::array tolerance_names{Name{Tolerance::none, "none"}, Name{Tolerance::all, "all"}};

}  // namespace sluice::format
