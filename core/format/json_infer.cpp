// What a sample of JSON records says about its fields.
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "core/format/json_format.h"
#include "core/format/json_reader.h"

namespace sluice {

namespace {

using Kinds = std::vector<std::pair<std::string, std::optional<Kind>>>;  // no kind: null

std::optional<Kind> kind_of(const Value& value) {
  if (std::holds_alternative<bool>(value)) return Kind::boolean;
  if (std::holds_alternative<std::int64_t>(value)) return Kind::integer;
  if (std::holds_alternative<Text>(value)) return Kind::text;
  if (std::holds_alternative<Json>(value)) return Kind::json;
  if (const auto* number = std::get_if<Decimal>(&value)) {
    return number->digits.find_first_of(".eE") == std::string_view::npos ? Kind::decimal : Kind::real;
  }
  return std::nullopt;
}

// The narrowest kind that holds values of both.
Kind common_kind(Kind a, Kind b) {
  if (a == b) return a;
  const auto is_number = [](Kind kind) { return kind == Kind::integer || kind == Kind::real || kind == Kind::decimal; };
  if (!is_number(a) || !is_number(b)) return Kind::text;
  // A double would lose digits of the large integers.
  return a == Kind::decimal || b == Kind::decimal ? Kind::decimal : Kind::real;
}

// The fields of one record; false if it does not decode. A field that comes twice is in it twice, the last one counts.
bool read_kinds(JsonReader& reader, std::string_view text, Arena& arena, Kinds& kinds) {
  if (!reader.start(text) || !reader.take('{')) return false;
  if (reader.take('}')) return reader.finish();
  do {
    std::string_view name;
    Value value;
    if (!reader.read_key(name)) return false;
    auto& field = kinds.emplace_back(name, std::nullopt);
    if (!reader.read_value(value, arena)) return false;
    field.second = kind_of(value);
  } while (reader.take(','));
  return reader.take('}') && reader.finish();
}

// Fields in the order of their first appearance.
class SeenFields {
 public:
  void add(const Kinds& record) {
    std::map<std::string_view, std::optional<Kind>> last;
    for (const auto& [name, kind] : record) last[name] = kind;
    for (const auto& [name, ignored] : record) {
      auto& seen = field(name).second;
      const auto kind = last[name];
      if (kind) seen = seen ? common_kind(*seen, *kind) : *kind;
    }
  }

  std::vector<Field> result() const {
    std::vector<Field> fields;
    for (const auto& [name, kind] : fields_) {
      if (kind) fields.push_back({name, *kind});
    }
    return fields;
  }

 private:
  std::pair<std::string, std::optional<Kind>>& field(const std::string& name) {
    const auto [place, is_new] = places_.emplace(name, fields_.size());
    if (is_new) fields_.emplace_back(name, std::nullopt);
    return fields_[place->second];
  }

  Kinds fields_;
  std::map<std::string, std::size_t> places_;
};

}  // namespace

std::vector<Field> JsonFormat::infer(std::span<const Record> sample) {
  JsonReader reader;
  Arena arena;
  SeenFields seen;
  for (const auto& record : sample) {
    if (!record.value) continue;
    const std::string text(*record.value);  // the reader needs a zero byte behind it, which a string has
    Kinds kinds;
    if (read_kinds(reader, text, arena, kinds)) seen.add(kinds);
    arena.clear();
  }
  return seen.result();
}

}  // namespace sluice
