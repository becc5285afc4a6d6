// For the tests of this folder: decodes texts with JsonFormat and keeps what came out.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/format/json_format.h"
#include "core/model/batch.h"

namespace sluice::testing {

// Two splits: orders-3 and orders_archive-0.
class TwoSplits : public SplitNames {
 public:
  const Split& split(SplitIndex index) const override { return splits_.at(index); }

 private:
  std::vector<Split> splits_{{"orders", 3}, {"orders_archive", 0}};
};

inline RowShape shape_of(const std::vector<std::string>& sources) {
  RowShape shape;
  for (const auto& source : sources) shape.cells.push_back(CellSource::parse(source).value());
  return shape;
}

// A decoder with its batch. Record i of all that were decoded has offset i.
class JsonDecoding {
 public:
  explicit JsonDecoding(const RowShape& shape) : rows(shape.cells.size()), decoder_(format_.decoder(shape, names_)) {}
  explicit JsonDecoding(const std::vector<std::string>& sources) : JsonDecoding(shape_of(sources)) {}

  // The texts are overwritten before this returns: cells that still point into them show it.
  void decode(std::vector<std::string> texts) {
    std::vector<Record> records;
    for (const auto& text : texts) {
      Record record;
      record.offset = next_offset_++;
      record.value = text;
      records.push_back(record);
    }
    decoder_->decode(records, rows, rejects);
    for (auto& text : texts) text.assign(text.size(), '#');
  }
  void decode_records(const std::vector<Record>& records) { decoder_->decode(records, rows, rejects); }

  Value cell(std::size_t row, std::size_t column) const { return rows.row(row)[column]; }

  Batch rows;
  std::vector<Reject> rejects;

 private:
  TwoSplits names_;
  JsonFormat format_;
  std::unique_ptr<Decoder> decoder_;
  std::int64_t next_offset_ = 0;
};

// A cell that does not need the batch any more; `text` is what its view showed.
struct OwnedCell {
  std::size_t kind = 0;  // index of Value
  std::string text;

  bool operator==(const OwnedCell&) const = default;
};

inline OwnedCell owned(const Value& value) {
  OwnedCell cell{value.index(), {}};
  if (const auto* flag = std::get_if<bool>(&value)) cell.text = *flag ? "true" : "false";
  if (const auto* number = std::get_if<std::int64_t>(&value)) cell.text = std::to_string(*number);
  if (const auto* number = std::get_if<Decimal>(&value)) cell.text = number->digits;
  if (const auto* time = std::get_if<Timestamp>(&value)) cell.text = std::to_string(time->micros_utc);
  if (const auto* text = std::get_if<Text>(&value)) cell.text = text->utf8;
  if (const auto* bytes = std::get_if<Bytes>(&value)) cell.text = bytes->raw;
  if (const auto* json = std::get_if<Json>(&value)) cell.text = json->text;
  return cell;
}

// Decodes one text whose only wanted field is "v".
inline std::optional<OwnedCell> decode_v(const std::string& text) {
  JsonDecoding decoding(std::vector<std::string>{"v"});
  decoding.decode({text});
  if (decoding.rows.empty()) return std::nullopt;
  return owned(decoding.cell(0, 0));
}

// Why a text is rejected; empty if it is not.
inline std::string reason_of(const std::string& text) {
  JsonDecoding decoding(std::vector<std::string>{"v", "deep.inner"});
  decoding.decode({text});
  return decoding.rejects.empty() ? std::string() : decoding.rejects.front().reason;
}

}  // namespace sluice::testing
