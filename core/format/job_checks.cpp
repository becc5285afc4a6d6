#include "core/format/job_checks.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

namespace sluice::format {

namespace {

bool is_topic(const std::string& text) {
  const auto fits = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_' ||
           c == '-';
  };
  return !text.empty() && text.size() <= 249 && text != "." && text != ".." &&
         std::all_of(text.begin(), text.end(), fits);
}

void check_topics(const KafkaSourceConfig& kafka, SectionReader& section) {
  if (section.has("topics") && section.has("topics.regex")) {
    return section.problem("topics.regex", "stands beside \"topics\"; keep one of the two");
  }
  if (!section.has("topics.regex")) section.require("topics", "\"topics\": [\"orders\"]");
  if (section.has("topics") && kafka.topics.empty()) section.problem("topics", "names no topic; add one");
  for (const auto& topic : kafka.topics) {
    if (is_topic(topic)) continue;
    section.problem("topics", "holds a name that Kafka does not allow; use up to 249 of a-z A-Z 0-9 . _ -" +
                                  std::string(", or \"topics.regex\" for a pattern"));
  }
}

// A start position that the mode would ignore is a mistake that starts the job at the wrong record.
void check_start(const KafkaSourceConfig& kafka, SectionReader& section) {
  struct Need {
    StartMode mode;
    std::string_view key;
    std::string_view example;
  };
  constexpr std::array needs{
      Need{StartMode::timestamp, "scan.startup.timestamp-millis", "\"scan.startup.timestamp-millis\": 1735689600000"},
      Need{StartMode::specific_offsets, "scan.startup.specific-offsets",
           "\"scan.startup.specific-offsets\": {\"orders:0\": 42}"}};
  for (const auto& need : needs) {
    if (kafka.start_mode == need.mode) {
      section.require(need.key, need.example);
    } else if (section.has(need.key)) {
      section.problem(need.key, "has no effect here; write \"scan.startup.mode\": \"" +
                                    std::string(to_string(need.mode)) + "\" or remove the key");
    }
  }
  for (const auto& [split, offset] : kafka.start_offsets) {
    if (kafka.topics.empty() ||
        std::find(kafka.topics.begin(), kafka.topics.end(), split.topic) != kafka.topics.end()) {
      continue;
    }
    section.problem("scan.startup.specific-offsets",
                    "names the topic \"" + split.topic + "\", which \"topics\" lacks; correct one of the two");
  }
}

void check_url(const SinkConfig& sink, SectionReader& section) {
  struct Schemes {
    SinkType type;
    std::array<std::string_view, 2> allowed;
    std::string_view example;
  };
  constexpr std::array known{
      Schemes{SinkType::postgres, {"postgresql://", "postgres://"}, "postgresql://user:${env:PGPASSWORD}@host:5432/db"},
      Schemes{SinkType::mysql, {"mysql://", "mysql://"}, "mysql://user:${env:MYSQL_PWD}@host:3306/db"},
      Schemes{SinkType::mariadb, {"mariadb://", "mysql://"}, "mariadb://user:${env:MYSQL_PWD}@host:3306/db"},
      Schemes{SinkType::sqlite, {"sqlite:", "sqlite:"}, "sqlite:///var/lib/shop.db"}};
  const auto* schemes = std::find_if(known.begin(), known.end(), [&](const auto& s) { return s.type == sink.type; });
  if (schemes == known.end()) return;
  const auto example = '"' + std::string(schemes->example) + '"';
  if (!section.has("connection.url")) return section.require("connection.url", "\"connection.url\": " + example);
  for (const auto& scheme : schemes->allowed) {
    if (sink.connection_url.starts_with(scheme) && sink.connection_url.size() > scheme.size()) return;
  }
  section.problem("connection.url", "is no URL for the sink type \"" + std::string(to_string(sink.type)) +
                                        "\"; write one like " + example);
}

void check_key(const SinkConfig& sink, SectionReader& section) {
  const bool empty = sink.pk_fields.empty();
  if (sink.insert_mode == InsertMode::upsert && sink.pk_mode == PkMode::none) {
    return section.problem("insert.mode",
                           "upsert needs a key; write \"pk.mode\": \"record_value\" and \"pk.fields\": [\"id\"], "
                           "or \"pk.mode\": \"kafka\"");
  }
  if (sink.pk_mode == PkMode::none && !empty) {
    section.problem("pk.fields", "has no effect while \"pk.mode\" is \"none\"; write \"pk.mode\": \"record_value\"");
  }
  if (sink.pk_mode == PkMode::record_value && empty) {
    section.problem("pk.fields", "names no column, but \"pk.mode\" is \"record_value\"; write \"pk.fields\": [\"id\"]");
  }
  if (sink.pk_mode == PkMode::record_key && empty) {
    section.problem("pk.fields", "names no column, but \"pk.mode\" is \"record_key\"; write \"pk.fields\": [\"id\"]");
  }
  if (sink.delete_enabled && (sink.pk_mode != PkMode::record_key || sink.insert_mode != InsertMode::upsert)) {
    section.problem("delete.enabled",
                    "needs a key to find the row by, and a record that deletes has no value: write \"insert.mode\": "
                    "\"upsert\", \"pk.mode\": \"record_key\" and \"pk.fields\": [\"id\"]");
  }
  if (sink.pk_mode == PkMode::kafka && sink.pk_fields.size() != 3) {
    section.problem("pk.fields",
                    "must name three columns for \"pk.mode\": \"kafka\" (topic, partition, offset); name three, or "
                    "remove the key for __connect_topic, __connect_partition and __connect_offset");
  }
}

// Names may come from variables, so the messages do without them.
void check_columns(const SinkConfig& sink, SectionReader& section) {
  const bool listed = sink.pk_mode == PkMode::record_value || sink.pk_mode == PkMode::record_key;
  if (sink.columns.empty() || !listed) return;
  for (const auto& field : sink.pk_fields) {
    const auto same = [&](const ColumnConfig& column) { return column.name == field; };
    if (std::any_of(sink.columns.begin(), sink.columns.end(), same)) continue;
    section.problem("pk.fields", "names a column that \"columns\" lacks; add the column there");
  }
}

}  // namespace

bool is_name(const std::string& text) {
  const auto fits = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-'; };
  return !text.empty() && text.size() <= 64 && std::all_of(text.begin(), text.end(), fits);
}

void check(const SourceConfig& source, SectionReader& section) {
  if (source.type == SourceType::file) {
    section.require("path", "\"path\": \"orders.jsonl\"");
    if (section.has("path") && source.file.paths.empty()) section.problem("path", "names no file; add one");
    return;
  }
  section.require("bootstrap.servers", "\"bootstrap.servers\": \"localhost:9092\"");
  check_topics(source.kafka, section);
  check_start(source.kafka, section);
}

void check(const SinkConfig& sink, SectionReader& section) {
  if (!is_name(sink.name)) section.problem("name", "is no name; use 1 to 64 of a-z 0-9 _ -");
  check_url(sink, section);
  check_key(sink, section);
  check_columns(sink, section);
}

void check(const CheckpointConfig& checkpoint, SectionReader& section) {
  if (checkpoint.min_pause > checkpoint.interval) {
    section.problem("min.pause", "is longer than \"checkpoint.interval\"; shorten it");
  }
}

void check(const RestartConfig& restart, SectionReader& section) {
  if (restart.strategy == RestartStrategy::exponential_delay && restart.initial > restart.max) {
    section.problem("initial", "is longer than \"restart.max\"; shorten it or raise \"restart.max\"");
  }
}

}  // namespace sluice::format
