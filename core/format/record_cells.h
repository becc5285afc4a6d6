// What decoders of all formats share: cells that come from a record's metadata, and the way from records to rows.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/api/decoder.h"
#include "core/api/source.h"
#include "core/model/batch.h"
#include "core/model/schema.h"

namespace sluice {

// Why a record gives no row: a Reject that does not know its origin yet.
struct Refusal {
  std::string field;   // path of the field, empty: the record as a whole
  std::string reason;  // never holds a value
};

// Fills the cells that a row takes from the record's metadata: @topic, @partition, @offset, @timestamp, @key,
// @headers.x.
class MetadataCells {
 public:
  // `names` outlives it.
  MetadataCells(const RowShape& shape, const SplitNames& names);

  // The next records go into another batch, or into one that was cleared.
  void begin_batch() { topic_ = {}; }
  std::optional<Refusal> fill(const Record& record, std::span<Value> cells, Arena& arena);

 private:
  struct Cell {
    std::size_t index = 0;
    CellSource::From from = CellSource::From::value_path;
    std::string header;
    bool raw = false;
  };

  Text topic(SplitIndex split, Arena& arena);

  const SplitNames& names_;
  std::vector<Cell> cells_;
  SplitIndex topic_split_ = 0;
  std::string_view topic_;  // of topic_split_, in the batch's arena; empty: not copied yet
};

// Base of a format's decoder: copies each value into the arena, fills the metadata, and leaves the value to the format.
class RecordDecoder : public Decoder {
 public:
  void decode(std::span<const Record> records, Batch& rows, std::vector<Reject>& rejects) final;

 protected:
  RecordDecoder(const RowShape& shape, const SplitNames& names);

  // Fills the cells that come from the value; all cells are NULL before. `value` lies in the batch's arena, so that
  // cells may point into it, and a 0 byte that can be read lies behind it.
  virtual std::optional<Refusal> decode_value(std::string_view value, std::span<Value> cells, Arena& arena) = 0;
  // The same for the cells that come from fields of the key.
  virtual std::optional<Refusal> decode_key(std::string_view key, std::span<Value> cells, Arena& arena) = 0;

 private:
  std::size_t room_for(std::span<const Record> records) const;
  std::optional<Refusal> decode_record(const Record& record, char*& room, std::span<Value> cells, Arena& arena);

  std::size_t columns_;
  bool reads_keys_;
  bool erases_;
  MetadataCells metadata_;
};

}  // namespace sluice
