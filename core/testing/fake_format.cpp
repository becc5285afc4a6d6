#include "core/testing/fake_format.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <string_view>
#include <utility>

#include "core/model/error.h"

namespace sluice::testing {

namespace {

using Fields = std::vector<std::pair<std::string_view, std::string_view>>;  // in the order of the text

// False: the text is not all "name=value".
bool split_fields(std::string_view text, Fields& fields) {
  fields.clear();
  while (!text.empty()) {
    const std::string_view field = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), field.size() + 1));
    const auto equals = field.find('=');
    if (equals == std::string_view::npos) return false;
    fields.emplace_back(field.substr(0, equals), field.substr(equals + 1));
  }
  return true;
}

bool to_integer(std::string_view text, std::int64_t& integer) {
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), integer);
  return parsed.ec == std::errc() && parsed.ptr == text.data() + text.size();
}

class FakeDecoder final : public Decoder {
 public:
  FakeDecoder(RowShape shape, const SplitNames& names) : shape_(std::move(shape)), names_(names) {
    for (const CellSource& source : shape_.cells) {
      const bool known = source.from == CellSource::From::partition || source.from == CellSource::From::offset ||
                         (source.from == CellSource::From::value_path && source.path.size() == 1);
      if (!known) throw Error(Fault::fatal, "FakeFormat has no cells from " + to_string(source));
    }
  }

  void decode(std::span<const Record> records, Batch& rows, std::vector<Reject>& rejects) override {
    for (const Record& record : records) {
      const Origin origin{record.split, record.offset};
      if (!record.value || !split_fields(*record.value, fields_)) {
        rejects.push_back({origin, "", "is not made of name=value"});
        continue;
      }
      const auto cells = rows.append(RowKind::insert, origin);
      for (std::size_t i = 0; i < cells.size(); ++i) cells[i] = cell(shape_.cells[i], record, rows.arena());
    }
  }

 private:
  Value cell(const CellSource& source, const Record& record, Arena& arena) const {
    if (source.from == CellSource::From::offset) return record.offset;
    if (source.from == CellSource::From::partition) return std::int64_t{names_.split(record.split).partition};
    const auto found = std::find_if(fields_.begin(), fields_.end(),
                                    [&](const auto& field) { return field.first == source.path.front(); });
    if (found == fields_.end()) return Null{};
    std::int64_t integer = 0;
    if (to_integer(found->second, integer)) return integer;
    return Text{arena.copy(found->second)};
  }

  RowShape shape_;
  const SplitNames& names_;
  Fields fields_;
};

}  // namespace

std::unique_ptr<Decoder> FakeFormat::decoder(const RowShape& shape, const SplitNames& names) {
  return std::make_unique<FakeDecoder>(shape, names);
}

std::vector<Field> FakeFormat::infer(std::span<const Record> sample) {
  std::vector<Field> seen;
  Fields fields;
  for (const Record& record : sample) {
    if (!record.value || !split_fields(*record.value, fields)) continue;
    for (const auto& [name, text] : fields) {
      std::int64_t ignored = 0;
      const Kind kind = to_integer(text, ignored) ? Kind::integer : Kind::text;
      const auto found = std::find_if(seen.begin(), seen.end(), [&](const Field& field) { return field.name == name; });
      if (found == seen.end()) {
        seen.push_back({std::string(name), kind});
      } else if (kind == Kind::text) {
        found->kind = Kind::text;
      }
    }
  }
  return seen;
}

}  // namespace sluice::testing
