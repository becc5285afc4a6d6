#include "core/format/json_fields.h"

#include <algorithm>

namespace sluice {

namespace {

// Objects that are used as maps bring new names for ever; what is remembered of them is bounded.
constexpr std::size_t names_max = 512;
constexpr std::size_t name_bytes_max = 256;

// JSON writes such a name as it is. Others have several spellings, or one that is another name's.
bool is_written_plainly(std::string_view name) {
  return std::all_of(name.begin(), name.end(),
                     [](char c) { return c != '"' && c != '\\' && static_cast<unsigned char>(c) >= 0x20; });
}

}  // namespace

JsonObjectFields::JsonObjectFields() : names_(1) {}

JsonField& JsonObjectFields::want(const std::string& name, const std::string& path) {
  if (const auto found = places_.find(name); found != places_.end()) return *names_[found->second].field;
  fields_.push_back(std::make_unique<JsonField>());
  fields_.back()->path = path;
  add(name, fields_.back().get());
  return *fields_.back();
}

JsonObjectFields::Place JsonObjectFields::look_up(Place place, std::string_view name, JsonField*& wanted) {
  wanted = nullptr;
  Place found = start;
  if (const auto known = places_.find(name); known != places_.end()) {
    found = known->second;
    wanted = names_[found].field;
  } else if (names_.size() < names_max && name.size() <= name_bytes_max) {
    found = add(name, nullptr);
  } else {
    return place;
  }
  names_[place].next = found;
  return found;
}

JsonObjectFields::Place JsonObjectFields::add(std::string_view name, JsonField* field) {
  const auto place = static_cast<Place>(names_.size());
  std::string quoted;
  if (is_written_plainly(name)) quoted.append(1, '"').append(name).append(1, '"');
  names_.push_back({std::move(quoted), field, start});
  places_.emplace(name, place);
  return place;
}

JsonObjectFields wanted_fields(const RowShape& shape, CellSource::From from) {
  JsonObjectFields root;
  for (std::size_t cell = 0; cell < shape.cells.size(); ++cell) {
    const auto& source = shape.cells[cell];
    if (source.from != from) continue;
    JsonObjectFields* object = &root;
    JsonField* field = nullptr;
    std::string path;
    for (const auto& step : source.path) {
      if (field != nullptr) {
        if (!field->inner) field->inner = std::make_unique<JsonObjectFields>();
        object = field->inner.get();
        path += '.';
      }
      path += step;
      field = &object->want(step, path);
    }
    if (field != nullptr) field->cells.push_back(cell);
  }
  return root;
}

}  // namespace sluice
