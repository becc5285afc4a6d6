// The fields that a row wants from JSON objects, and how they are found among the fields of a record.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/model/schema.h"

namespace sluice {

class JsonObjectFields;

// A field that the row wants itself (cells), from whose object it wants something (inner), or both.
struct JsonField {
  std::string path;                         // "a.b", for messages
  std::vector<std::size_t> cells;           // of the row
  std::unique_ptr<JsonObjectFields> inner;  // null: nothing below is wanted
  std::uint64_t record_seen = 0;            // number of the record that had it last: a second time is a duplicate
};

// The fields of one object. It remembers which field followed which in earlier records: writers keep their order, so
// that comparing with one guess mostly replaces a look-up. Names that nobody wants are remembered too.
class JsonObjectFields {
 public:
  using Place = std::uint32_t;
  static constexpr Place start = 0;  // in front of the first field

  JsonObjectFields();

  // The wanted field below this object, made if it is new.
  JsonField& want(const std::string& name, const std::string& path);

  // How the field behind `place` was written last time, with its quotes; empty: no guess.
  std::string_view guess(Place place) const { return names_[names_[place].next].quoted; }
  Place guessed(Place place) const { return names_[place].next; }

  // The place of the field with this (unescaped) name, seen behind `place`; learns it. A name that is not wanted may
  // be one too many to remember: then it stays at `place`, and `wanted` is null.
  Place look_up(Place place, std::string_view name, JsonField*& wanted);

  // Null: nobody wants it.
  JsonField* field(Place place) const { return names_[place].field; }

  std::vector<std::unique_ptr<JsonField>>& fields() { return fields_; }

 private:
  struct Name {
    std::string quoted;  // empty where the name as it is written is not the name itself: never guessed
    JsonField* field = nullptr;
    Place next = start;
  };
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view name) const { return std::hash<std::string_view>{}(name); }
  };

  Place add(std::string_view name, JsonField* field);

  std::vector<std::unique_ptr<JsonField>> fields_;
  std::vector<Name> names_;  // by place; the first stands for the start of the object
  std::unordered_map<std::string, Place, Hash, std::equal_to<>> places_;
};

// The tree of all value paths of a shape, or of all key paths.
JsonObjectFields wanted_fields(const RowShape& shape, CellSource::From from = CellSource::From::value_path);

}  // namespace sluice
