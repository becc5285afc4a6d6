#include "stores/wal/row_bytes.h"

#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

namespace sluice::wal {

namespace {

template <class Number>
void put(std::string& out, Number number) {
  static_assert(std::is_trivially_copyable_v<Number>);
  char bytes[sizeof number];
  std::memcpy(bytes, &number, sizeof number);
  out.append(bytes, sizeof number);
}

// The kind of a cell is its place in the variant.
void put_cell(std::string& out, const Value& cell) {
  out += static_cast<char>(cell.index());
  std::visit(
      [&](const auto& value) {
        using Cell = std::decay_t<decltype(value)>;
        if constexpr (std::is_same_v<Cell, bool>) {
          out += value ? '\1' : '\0';
        } else if constexpr (std::is_arithmetic_v<Cell>) {
          put(out, value);
        } else if constexpr (std::is_same_v<Cell, Timestamp>) {
          put(out, value.micros_utc);
        } else if constexpr (std::is_same_v<Cell, Decimal>) {
          put_text(out, value.digits);
        } else if constexpr (std::is_same_v<Cell, Text>) {
          put_text(out, value.utf8);
        } else if constexpr (std::is_same_v<Cell, Bytes>) {
          put_text(out, value.raw);
        } else if constexpr (std::is_same_v<Cell, Json>) {
          put_text(out, value.text);
        }
      },
      cell);
}

// Takes what was put, in the same order.
class Taker {
 public:
  explicit Taker(std::string_view bytes) : rest_(bytes) {}

  template <class Number>
  Number number() {
    Number value{};
    std::memcpy(&value, need(sizeof value), sizeof value);
    return value;
  }
  std::string_view text() {
    const auto size = number<std::uint32_t>();
    return {need(size), size};
  }
  Value cell() {
    switch (number<std::uint8_t>()) {
      case 0:
        return Null{};
      case 1:
        return number<char>() != 0;
      case 2:
        return number<std::int64_t>();
      case 3:
        return number<double>();
      case 4:
        return Decimal{text()};
      case 5:
        return Timestamp{number<std::int64_t>()};
      case 6:
        return Text{text()};
      case 7:
        return Bytes{text()};
      case 8:
        return Json{text()};
      default:
        throw std::runtime_error("it holds a kind of value that this program does not know");
    }
  }
  bool done() const { return rest_.empty(); }

 private:
  const char* need(std::size_t size) {
    if (size > rest_.size()) throw std::runtime_error("it ends in the middle of a row");
    const char* const at = rest_.data();
    rest_.remove_prefix(size);
    return at;
  }

  std::string_view rest_;
};

static_assert(std::variant_size_v<Value> == 9, "a new kind of cell needs its place in cell()");

}  // namespace

void put_text(std::string& out, std::string_view text) {
  put(out, static_cast<std::uint32_t>(text.size()));
  out += text;
}

void put_rows(std::string& out, const std::string& topic, const std::string& shape, const Batch& batch) {
  put_text(out, topic);
  put_text(out, shape);
  put(out, static_cast<std::uint32_t>(batch.columns()));
  for (std::size_t row = 0; row < batch.rows(); ++row) {
    const Origin origin = batch.origin(row);
    put(out, static_cast<std::uint8_t>(batch.kind(row)));
    put(out, origin.split);
    put(out, origin.offset);
    for (const Value& cell : batch.row(row)) put_cell(out, cell);
  }
}

RowFrame take_rows(std::string_view bytes) {
  Taker from(bytes);
  std::string topic(from.text());
  std::string shape(from.text());
  RowFrame frame{std::move(topic), std::move(shape), Batch(from.number<std::uint32_t>())};
  while (!from.done()) {
    const auto kind = static_cast<RowKind>(from.number<std::uint8_t>());
    Origin origin;
    origin.split = from.number<SplitIndex>();
    origin.offset = from.number<std::int64_t>();
    for (Value& cell : frame.batch.append(kind, origin)) cell = from.cell();
  }
  return frame;
}

}  // namespace sluice::wal
