#include "core/format/record_cells.h"

#include <simdjson.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <utility>

namespace sluice {

namespace {

constexpr std::int64_t micros_per_milli = 1000;

// Copied, since the record goes away before the row does.
Value key_cell(const std::optional<std::string_view>& key, bool raw, Arena& arena) {
  if (!key) return Null{};
  const std::string_view copy = arena.copy(*key);
  if (raw) return Bytes{copy};
  if (simdjson::validate_utf8(copy)) return Text{copy};
  return Bytes{copy};
}

Value header_cell(std::span<const Header> headers, std::string_view name, bool raw, Arena& arena) {
  for (auto header = headers.rbegin(); header != headers.rend(); ++header) {
    if (header->name == name) return key_cell(header->value, raw, arena);
  }
  return Null{};
}

bool has_key_paths(const RowShape& shape) {
  return std::any_of(shape.cells.begin(), shape.cells.end(),
                     [](const CellSource& source) { return source.from == CellSource::From::key_path; });
}

// Copies the bytes to `room`, with a 0 byte behind them, and moves it on.
std::string_view copy_to(char*& room, std::string_view bytes) {
  const std::string_view copy{room, bytes.size()};
  if (!bytes.empty()) std::memcpy(room, bytes.data(), bytes.size());
  room[bytes.size()] = 0;
  room += bytes.size() + 1;
  return copy;
}

}  // namespace

MetadataCells::MetadataCells(const RowShape& shape, const SplitNames& names) : names_(names) {
  for (std::size_t index = 0; index < shape.cells.size(); ++index) {
    const auto& source = shape.cells[index];
    if (source.from == CellSource::From::value_path || source.from == CellSource::From::key_path) continue;
    cells_.push_back(
        {index, source.from, source.from == CellSource::From::header ? source.path.front() : "", source.raw});
  }
}

std::optional<Refusal> MetadataCells::fill(const Record& record, std::span<Value> cells, Arena& arena) {
  for (const auto& cell : cells_) {
    Value& value = cells[cell.index];
    switch (cell.from) {
      case CellSource::From::topic:
        value = topic(record.split, arena);
        break;
      case CellSource::From::partition:
        value = std::int64_t{names_.split(record.split).partition};
        break;
      case CellSource::From::offset:
        value = record.offset;
        break;
      case CellSource::From::timestamp:
        if (record.timestamp_ms == -1) break;
        if (record.timestamp_ms > std::numeric_limits<std::int64_t>::max() / micros_per_milli ||
            record.timestamp_ms < std::numeric_limits<std::int64_t>::min() / micros_per_milli) {
          return Refusal{"@timestamp", "the record's timestamp is out of range"};
        }
        value = Timestamp{record.timestamp_ms * micros_per_milli};
        break;
      case CellSource::From::key:
        value = key_cell(record.key, cell.raw, arena);
        break;
      case CellSource::From::header:
        value = header_cell(record.headers, cell.header, cell.raw, arena);
        break;
      case CellSource::From::value_path:
      case CellSource::From::key_path:
        break;
    }
  }
  return std::nullopt;
}

// One copy serves the records of a split in a batch.
Text MetadataCells::topic(SplitIndex split, Arena& arena) {
  if (topic_.empty() || topic_split_ != split) {
    topic_ = arena.copy(names_.split(split).topic);
    topic_split_ = split;
  }
  return Text{topic_};
}

RecordDecoder::RecordDecoder(const RowShape& shape, const SplitNames& names)
    : columns_(shape.cells.size()), reads_keys_(has_key_paths(shape)), erases_(shape.erases), metadata_(shape, names) {}

// Bytes for the values of all records, and for their keys: one allocation serves the whole poll.
std::size_t RecordDecoder::room_for(std::span<const Record> records) const {
  std::size_t size = 0;
  for (const auto& record : records) {
    if (record.value) size += record.value->size() + 1;
    if (record.key && reads_keys_) size += record.key->size() + 1;
  }
  return size;
}

void RecordDecoder::decode(std::span<const Record> records, Batch& rows, std::vector<Reject>& rejects) {
  if (rows.columns() != columns_) throw std::invalid_argument("the batch has other columns than the decoder's shape");
  metadata_.begin_batch();
  char* room = rows.arena().allocate(room_for(records));
  for (const auto& record : records) {
    const Origin origin{record.split, record.offset};
    const auto cells = rows.append(record.value ? RowKind::insert : RowKind::erase, origin);
    if (auto refusal = decode_record(record, room, cells, rows.arena())) {
      rows.drop_last();
      rejects.push_back({origin, std::move(refusal->field), std::move(refusal->reason)});
    }
  }
}

// `room` is where key and value are copied to; moves on behind them.
std::optional<Refusal> RecordDecoder::decode_record(const Record& record, char*& room, std::span<Value> cells,
                                                    Arena& arena) {
  if (!record.value && !erases_) {
    return Refusal{{}, "the record has no value (tombstone); \"delete.enabled\" would delete the row of its key"};
  }
  if (reads_keys_) {
    if (!record.key) return Refusal{"@key", "the record has no key"};
    if (auto refusal = decode_key(copy_to(room, *record.key), cells, arena)) return refusal;
  }
  std::string_view value;
  if (record.value) value = copy_to(room, *record.value);
  if (auto refusal = metadata_.fill(record, cells, arena)) return refusal;
  return record.value ? decode_value(value, cells, arena) : std::nullopt;
}

}  // namespace sluice
