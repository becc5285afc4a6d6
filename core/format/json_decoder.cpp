#include "core/format/json_decoder.h"

#include <cstddef>

namespace sluice {

namespace {

constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

// A field came again in the same record: nothing of its first value may shine through the last one.
void clear_cells(JsonField& field, std::span<Value> cells) {
  for (const std::size_t cell : field.cells) cells[cell] = Null{};
  if (!field.inner) return;
  for (const auto& inner : field.inner->fields()) clear_cells(*inner, cells);
}

std::string_view kind_of(char first_byte) {
  switch (first_byte) {
    case '[':
      return "array";
    case '"':
      return "string";
    case 't':
    case 'f':
      return "boolean";
    case 'n':
      return "null";
    default:
      return "number";
  }
}

}  // namespace

JsonDecoder::JsonDecoder(const RowShape& shape, const SplitNames& names)
    : RecordDecoder(shape, names),
      fields_(wanted_fields(shape)),
      key_fields_(wanted_fields(shape, CellSource::From::key_path)) {
  for (std::size_t cell = 0; cell < shape.cells.size(); ++cell) {
    if (shape.cells[cell].whole_key) whole_key_cells_.push_back(cell);
  }
}

// A key that is no object stands for its only field, as in Kafka Connect.
std::optional<Refusal> JsonDecoder::decode_key(std::string_view key, std::span<Value> cells, Arena& arena) {
  ++record_;
  failed_path_.clear();
  const auto refusal = [this] {
    return Refusal{failed_path_.empty() ? "@key" : "@key." + failed_path_, "not valid JSON" + reader_.problem()};
  };
  if (!reader_.start(key)) return refusal();
  Row row{cells, arena};
  if (reader_.take('{')) {
    if (!read_object(key_fields_, row) || !reader_.finish()) return refusal();
    return std::nullopt;
  }
  if (whole_key_cells_.empty())
    return Refusal{"@key", "the key is no JSON object, and several of its fields are wanted"};
  Value value;
  if (!reader_.read_value(value, arena) || !reader_.finish()) return refusal();
  for (const std::size_t cell : whole_key_cells_) cells[cell] = value;
  return std::nullopt;
}

std::optional<Refusal> JsonDecoder::decode_value(std::string_view value, std::span<Value> cells, Arena& arena) {
  ++record_;
  failed_path_.clear();
  if (!reader_.start(value)) return not_valid(value);
  if (reader_.peek() != '{') {
    const char first = reader_.peek();
    if (!reader_.skip_value() || !reader_.finish()) return not_valid(value);
    return Refusal{{}, "the value is a JSON " + std::string(kind_of(first)) + ", an object is needed"};
  }
  reader_.take('{');
  Row row{cells, arena};
  if (!read_object(fields_, row) || !reader_.finish()) return not_valid(value);
  return std::nullopt;
}

// The cursor is behind the opening brace.
bool JsonDecoder::read_object(JsonObjectFields& fields, Row& row) {
  if (reader_.take('}')) return true;
  auto place = JsonObjectFields::start;
  do {
    JsonField* field = nullptr;
    if (!read_key(fields, place, field)) return false;
    if (field == nullptr ? !reader_.skip_value() : !read_field(*field, row)) return false;
  } while (reader_.take(','));
  return reader_.take('}') || reader_.fail("a comma or } is needed");
}

bool JsonDecoder::read_key(JsonObjectFields& fields, JsonObjectFields::Place& place, JsonField*& field) {
  if (reader_.take_key(fields.guess(place))) {
    place = fields.guessed(place);
    field = fields.field(place);
    return true;
  }
  std::string_view name;
  if (!reader_.read_key(name)) return false;
  place = fields.look_up(place, name, field);
  return true;
}

bool JsonDecoder::read_field(JsonField& field, Row& row) {
  if (field.record_seen == record_) clear_cells(field, row.cells);
  field.record_seen = record_;
  if (read_cells(field, row)) return true;
  if (failed_path_.empty()) failed_path_ = field.path;
  return false;
}

bool JsonDecoder::read_cells(JsonField& field, Row& row) {
  Value ignored;
  Value& value = field.cells.empty() ? ignored : row.cells[field.cells.front()];
  const std::size_t first = reader_.offset();
  if (field.inner && reader_.take('{')) {
    if (!read_object(*field.inner, row)) return false;
    value = Json{reader_.text_from(first)};
  } else if (!reader_.read_value(value, row.arena)) {
    return false;
  }
  for (std::size_t i = 1; i < field.cells.size(); ++i) row.cells[field.cells[i]] = value;
  return true;
}

Refusal JsonDecoder::not_valid(std::string_view value) {
  if (value.starts_with(byte_order_mark)) {
    return {{}, "not valid JSON: it starts with a byte order mark, which the producer must leave out"};
  }
  if (value.starts_with('\0')) {
    return {
        {},
        "not valid JSON: it starts with a zero byte, as values of a schema registry do; value.format must name theirs"};
  }
  return {failed_path_, "not valid JSON" + reader_.problem()};
}

}  // namespace sluice
