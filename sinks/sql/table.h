// A table as the database describes it, and what of it a job writes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/model/schema.h"

namespace sluice::sql {

// Column types that values are checked against before they reach the server. `other`: any type not listed; text is
// passed through and the server judges.
enum class Family {
  boolean,
  int16,
  int32,
  int64,
  numeric,
  float32,
  float64,
  text,
  bytes,
  date,
  time,
  timestamp,
  timestamptz,
  json,
  uuid,
  enumeration,
  set,
  other
};

// Narrower or wider than what a family allows: unsigned, one byte, three bytes, a number of bits.
struct IntegerRange {
  std::int64_t min = 0;
  std::uint64_t max = 0;
};

struct Column {
  std::string name;       // unquoted
  std::string type_name;  // as the database writes it, for casts and messages
  Family family = Family::other;
  std::optional<int> length_max;           // text: code points; bytes: bytes
  std::optional<int> precision;            // numeric: digits in all
  int scale = 0;                           // numeric: digits after the point
  std::optional<IntegerRange> range = {};  // integers
  std::vector<std::string> allowed = {};   // enumeration, set: its values; a set's are written with commas between
  bool nullable = true;
  bool has_default = false;  // also identity columns: a job need not write it
  bool generated = false;    // a job cannot write it
};

struct Table {
  std::string schema;  // unquoted; empty where the database has none
  std::string name;    // unquoted
  std::vector<Column> columns;
  std::vector<std::vector<std::string>> unique_keys;  // column names; the primary key first when there is one
  bool has_primary_key = false;
  std::string obstacle = {};  // why it cannot be written exactly once; empty: it can
  std::string id = {};        // the database's own, another one for a new table of the same name; empty: it has none

  const Column* find(const std::string& column) const;
};

enum class InsertMode { insert, upsert };

// What a loader writes: cell i of a row goes into column i.
struct LoadPlan {
  std::string schema;
  std::string table;
  std::vector<Column> columns;
  std::vector<std::size_t> key;  // indexes of the key columns; empty: plain append
  InsertMode mode = InsertMode::insert;
};

// Why a row to erase is refused whose key is not whole.
inline constexpr const char* no_key_to_erase = "is missing in the key of a record that deletes";

}  // namespace sluice::sql
