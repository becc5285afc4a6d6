// What rows look like: where each cell of a row comes from, and what was seen in a sample of records.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace sluice {

enum class Kind { boolean, integer, real, decimal, timestamp, text, bytes, json };

// Where a cell comes from: a path into the record's value or key, or the record's own metadata.
struct CellSource {
  enum class From { value_path, key_path, topic, partition, offset, timestamp, key, header };
  From from = From::value_path;
  std::vector<std::string> path;  // value_path, key_path: {"a", "b"} for a.b; header: its name
  bool raw = false;               // key, header: bytes as they came, even where they are text
  bool whole_key = false;         // key_path: a key that is no object is this field

  bool operator==(const CellSource&) const = default;

  // "a.b", "@key.a.b", "@topic", "@partition", "@offset", "@timestamp", "@key", "@headers.name"; nothing if the text is
  // none of these.
  static std::optional<CellSource> parse(const std::string& text);
};

std::string to_string(const CellSource& source);

// The cells of a row, in the order in which the sink wants them.
struct RowShape {
  std::vector<CellSource> cells;
  bool erases = false;  // a record without a value (a tombstone) erases the row of its key
};

// A top-level field as seen in a sample of records.
struct Field {
  std::string name;
  Kind kind = Kind::text;
};

}  // namespace sluice
