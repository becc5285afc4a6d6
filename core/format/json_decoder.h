// JSON objects into cells.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/format/json_fields.h"
#include "core/format/json_reader.h"
#include "core/format/record_cells.h"

namespace sluice {

class JsonDecoder : public RecordDecoder {
 public:
  JsonDecoder(const RowShape& shape, const SplitNames& names);

 private:
  // One record on its way.
  struct Row {
    std::span<Value> cells;
    Arena& arena;
  };

  std::optional<Refusal> decode_value(std::string_view value, std::span<Value> cells, Arena& arena) override;
  std::optional<Refusal> decode_key(std::string_view key, std::span<Value> cells, Arena& arena) override;
  bool read_object(JsonObjectFields& fields, Row& row);
  bool read_key(JsonObjectFields& fields, JsonObjectFields::Place& place, JsonField*& field);
  bool read_field(JsonField& field, Row& row);
  bool read_cells(JsonField& field, Row& row);
  Refusal not_valid(std::string_view value);

  JsonReader reader_;
  JsonObjectFields fields_;
  JsonObjectFields key_fields_;
  std::vector<std::size_t> whole_key_cells_;
  std::uint64_t record_ = 0;  // counts from 1
  std::string failed_path_;   // innermost wanted field that a problem lies in
};

}  // namespace sluice
