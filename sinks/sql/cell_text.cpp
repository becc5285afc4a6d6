// The rules:
//   integers     whole numbers in range, also as decimals (1e3, 5.0) and as text in the grammar of a number
//   numeric      the same, any fraction; what lies behind the column's scale is rounded by the column
//   floats       the same, finite
//   boolean      booleans, and the texts true and false; where it is a number of one byte, such numbers, too
//   text         text; numbers, booleans and JSON as JSON writes them; timestamps in ISO 8601, UTC
//   bytes        bytes; text is base64
//   date         text YYYY-MM-DD; an integer counts days since 1970-01-01; of a timestamp its day in UTC
//   time         text hh:mm:ss; an integer counts milliseconds since midnight; of a timestamp its time of day in UTC
//   timestamp    text in ISO 8601, UTC unless it names an offset; an integer counts milliseconds since 1970-01-01
//   json         JSON; numbers and booleans; text is taken as JSON text, and the server judges it
//   uuid         text, 32 hexadecimal digits with or without the hyphens
//   enumeration, set    text that the column lists
//   others       as text, and the server judges it
#include "sinks/sql/cell_text.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <variant>

#include "sinks/sql/byte_text.h"
#include "sinks/sql/number_text.h"
#include "sinks/sql/time_text.h"

namespace sluice::sql {
namespace {

constexpr auto kNul = "text holds a NUL character, which the database cannot store";

CellText refused(const char* reason) {
  return {CellForm::refused, {}, reason};
}
CellText plain(std::string_view text) {
  return {CellForm::plain, text};
}

std::string_view printed(const CellBuffer& buffer, const char* end) {
  return {buffer.print.data(), static_cast<std::size_t>(end - buffer.print.data())};
}

template <typename Number>
std::string_view print(Number number, CellBuffer& buffer) {
  return printed(buffer, std::to_chars(buffer.print.data(), buffer.print.data() + buffer.print.size(), number).ptr);
}

// The digits of a number in any guise; data() is null where the value is none.
std::string_view digits_of(const Value& value, CellBuffer& buffer) {
  if (const auto* decimal = std::get_if<Decimal>(&value)) return decimal->digits;
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return print(*integer, buffer);
  if (const auto* text = std::get_if<Text>(&value)) return text->utf8;
  if (const auto* real = std::get_if<double>(&value)) return print(*real, buffer);
  return {};
}

bool in_range(std::int64_t value, Family family) {
  if (family == Family::int16) return value == static_cast<std::int16_t>(value);
  if (family == Family::int32) return fits_int32(value);
  return true;
}

CellText integer_text(const Value& value, const Column& column, CellBuffer& buffer) {
  std::int64_t integer = 0;
  if (const auto* direct = std::get_if<std::int64_t>(&value)) {
    integer = *direct;
  } else if (const auto* at = std::get_if<Timestamp>(&value)) {
    // The inverse of an integer in a timestamp column, for record timestamps that are kept as numbers.
    if (at->micros_utc % 1000 != 0) return refused("a timestamp of microseconds does not fit milliseconds");
    integer = at->micros_utc / 1000;
  } else {
    const auto number = parse_number(digits_of(value, buffer));
    if (!number) return refused("is not a number, and the column is an integer");
    if (const char* reason = to_int64(*number, integer)) return refused(reason);
  }
  if (!in_range(integer, column.family)) return refused("is out of the range of the column's integer type");
  return plain(print(integer, buffer));
}

CellText ranged_integer_text(const Value& value, const Column& column, CellBuffer& buffer) {
  constexpr auto kOutside = "is out of the range of the column's integer type";
  const auto number = parse_number(digits_of(value, buffer));
  if (!number) return refused("is not a number, and the column is an integer");
  if (number->negative && number->size > 0) {
    std::int64_t integer = 0;
    if (const char* reason = to_int64(*number, integer)) return refused(reason);
    return integer < column.range->min ? refused(kOutside) : plain(print(integer, buffer));
  }
  std::uint64_t integer = 0;
  if (const char* reason = to_uint64(*number, integer)) return refused(reason);
  const bool above_min = column.range->min <= 0 || integer >= static_cast<std::uint64_t>(column.range->min);
  return above_min && integer <= column.range->max ? plain(print(integer, buffer)) : refused(kOutside);
}

CellText numeric_text(const Value& value, const Column& column, CellBuffer& buffer) {
  const std::string_view digits = digits_of(value, buffer);
  const auto number = parse_number(digits);
  if (!number) return refused("is not a number, and the column is numeric");
  if (const char* reason = check_numeric(*number, column.precision, column.scale)) return refused(reason);
  return plain(digits);
}

CellText float_text(const Value& value, const Column& column, CellBuffer& buffer) {
  const std::string_view digits = digits_of(value, buffer);
  if (!parse_number(digits)) return refused("is not a finite number, and the column is floating-point");
  const char* reason = column.family == Family::float32 ? check_float32(digits) : check_float64(digits);
  return reason != nullptr ? refused(reason) : plain(digits);
}

CellText boolean_text(const Value& value, const Column& column, CellBuffer& buffer, CellRules rules) {
  const auto* boolean = std::get_if<bool>(&value);
  const auto* text = std::get_if<Text>(&value);
  const bool yes = boolean != nullptr ? *boolean : text != nullptr && text->utf8 == "true";
  if (yes || boolean != nullptr || (text != nullptr && text->utf8 == "false")) {
    if (rules.boolean_digits) return plain(yes ? "1" : "0");
    return plain(yes ? "true" : "false");
  }
  if (column.range) return ranged_integer_text(value, column, buffer);
  return refused("is neither true nor false");
}

bool holds_nul(std::string_view text) {
  return text.find('\0') != std::string_view::npos;
}

// Any value as text, whatever the column.
CellText free_text(const Value& value, CellBuffer& buffer, CellRules rules) {
  if (const auto* text = std::get_if<Text>(&value)) {
    if (!rules.nul_in_text && holds_nul(text->utf8)) return refused(kNul);
    return {CellForm::text, text->utf8};
  }
  if (const auto* json = std::get_if<Json>(&value)) return {CellForm::text, json->text};
  if (const auto* boolean = std::get_if<bool>(&value)) return plain(*boolean ? "true" : "false");
  if (const auto* at = std::get_if<Timestamp>(&value)) {
    if (!micros_in_range(at->micros_utc)) return refused("is outside the years 0001 to 9999 in UTC");
    char* end = print_timestamp(buffer.print.data(), at->micros_utc, 'T');
    *end++ = 'Z';
    return plain(printed(buffer, end));
  }
  if (const auto* real = std::get_if<double>(&value); real != nullptr && !std::isfinite(*real)) {
    return refused("is not a finite number");
  }
  const std::string_view digits = digits_of(value, buffer);
  return digits.data() != nullptr ? plain(digits) : refused("is binary, and the column is not");
}

bool longer_than(std::string_view utf8, int code_points) {
  const auto limit = static_cast<std::size_t>(code_points);
  if (utf8.size() <= limit) return false;
  std::size_t count = 0;
  for (const char c : utf8) count += (static_cast<unsigned char>(c) & 0xC0U) != 0x80U ? 1 : 0;
  return count > limit;
}

CellText text_text(const Value& value, const Column& column, CellBuffer& buffer, CellRules rules) {
  const CellText cell = free_text(value, buffer, rules);
  if (cell.form != CellForm::refused && column.length_max && longer_than(cell.text, *column.length_max)) {
    return refused("is longer than the column allows");
  }
  return cell;
}

CellText json_text(const Value& value, const Column& column, CellBuffer& buffer, CellRules rules) {
  CellText cell = free_text(value, buffer, rules);
  if (std::holds_alternative<Timestamp>(value) && cell.form == CellForm::plain) {
    buffer.grown.assign(1, '"').append(cell.text).append(1, '"');
    return {CellForm::text, buffer.grown};
  }
  // PostgreSQL's json keeps the text as it is; only jsonb unescapes it.
  if (cell.form == CellForm::text && !rules.nul_escape_in_json && column.type_name != "json" &&
      has_nul_escape(cell.text)) {
    return refused("JSON holds the escape \\u0000, which the database cannot store");
  }
  return cell;
}

CellText bytes_text(const Value& value, const Column& column, CellBuffer& buffer) {
  CellText cell{CellForm::bytes, {}};
  if (const auto* bytes = std::get_if<Bytes>(&value)) {
    cell.text = bytes->raw;
  } else if (const auto* text = std::get_if<Text>(&value)) {
    if (!decode_base64(text->utf8, buffer.grown))
      return refused("is not base64, which text in a binary column must be");
    cell.text = buffer.grown;
  } else {
    return refused("is neither bytes nor text in base64, and the column is binary");
  }
  if (column.length_max && cell.text.size() > static_cast<std::size_t>(*column.length_max)) {
    return refused("is longer than the column allows");
  }
  return cell;
}

std::int64_t day_of(std::int64_t micros) {
  return micros / kMicrosPerDay - (micros % kMicrosPerDay < 0 ? 1 : 0);
}

CellText date_text(const Value& value, CellBuffer& buffer) {
  std::int64_t days = 0;
  if (const auto* text = std::get_if<Text>(&value)) {
    if (const char* reason = parse_date(text->utf8, days)) return refused(reason);
  } else if (const auto* integer = std::get_if<std::int64_t>(&value)) {
    days = *integer;
  } else if (const auto* at = std::get_if<Timestamp>(&value)) {
    days = day_of(at->micros_utc);
  } else {
    return refused("is not a date (text YYYY-MM-DD, or days since 1970-01-01)");
  }
  if (!day_in_range(days)) return refused("is outside the years 0001 to 9999");
  return plain(printed(buffer, print_date(buffer.print.data(), days)));
}

CellText time_text(const Value& value, CellBuffer& buffer) {
  std::int64_t micros = 0;
  if (const auto* text = std::get_if<Text>(&value)) {
    if (const char* reason = parse_time(text->utf8, micros)) return refused(reason);
  } else if (const auto* integer = std::get_if<std::int64_t>(&value)) {
    if (*integer < 0 || *integer >= kMicrosPerDay / 1000) return refused("is outside the milliseconds of a day");
    micros = *integer * 1000;
  } else if (const auto* at = std::get_if<Timestamp>(&value)) {
    micros = at->micros_utc - day_of(at->micros_utc) * kMicrosPerDay;
  } else {
    return refused("is not a time of day (text hh:mm:ss, or milliseconds since midnight)");
  }
  return plain(printed(buffer, print_time(buffer.print.data(), micros)));
}

CellText timestamp_text(const Value& value, const Column& column, CellBuffer& buffer) {
  std::int64_t micros = 0;
  if (const auto* text = std::get_if<Text>(&value)) {
    if (const char* reason = parse_timestamp(text->utf8, micros)) return refused(reason);
  } else if (const auto* integer = std::get_if<std::int64_t>(&value)) {
    // Beyond this the product would overflow, and the year is out of range anyway.
    constexpr std::int64_t kMillisMax = std::numeric_limits<std::int64_t>::max() / 1000;
    micros =
        *integer > kMillisMax || *integer < -kMillisMax ? std::numeric_limits<std::int64_t>::max() : *integer * 1000;
  } else if (const auto* at = std::get_if<Timestamp>(&value)) {
    micros = at->micros_utc;
  } else {
    return refused("is not a timestamp (text in ISO 8601, or milliseconds since 1970-01-01)");
  }
  if (!micros_in_range(micros)) return refused("is outside the years 0001 to 9999 in UTC");
  char* end = print_timestamp(buffer.print.data(), micros, ' ');
  if (column.family == Family::timestamptz) {
    for (const char c : {'+', '0', '0'}) *end++ = c;
  }
  return plain(printed(buffer, end));
}

bool is_listed(std::string_view text, const std::vector<std::string>& allowed) {
  return std::find(allowed.begin(), allowed.end(), text) != allowed.end();
}

// A server would take the text of a number for the place of a value in the list.
CellText listed_text(const Value& value, const Column& column, CellBuffer& buffer, CellRules rules) {
  const CellText cell = free_text(value, buffer, rules);
  if (cell.form != CellForm::plain && cell.form != CellForm::text) return cell;
  if (column.family == Family::enumeration) {
    return is_listed(cell.text, column.allowed) ? CellText{CellForm::text, cell.text}
                                                : refused("is none of the values that the column allows");
  }
  std::string_view rest = cell.text;
  while (!rest.empty()) {
    const auto comma = rest.find(',');
    if (!is_listed(rest.substr(0, comma), column.allowed))
      return refused("is none of the values that the column allows");
    rest.remove_prefix(comma == std::string_view::npos ? rest.size() : comma + 1);
  }
  return {CellForm::text, cell.text};
}

CellText uuid_text(const Value& value, CellBuffer& buffer) {
  const auto* text = std::get_if<Text>(&value);
  if (text == nullptr || !canonical_uuid(text->utf8, buffer.print.data())) {
    return refused("is not a UUID (32 hexadecimal digits, with or without hyphens in 8-4-4-4-12)");
  }
  return plain({buffer.print.data(), kUuidSize});
}

}  // namespace

CellText detail::cell_text_general(const Value& value, const Column& column, CellBuffer& buffer, CellRules rules) {
  // A default does not help: the load names the column.
  if (std::holds_alternative<Null>(value)) {
    return column.nullable ? CellText{} : refused("is NOT NULL and the record has no value for it");
  }
  switch (column.family) {
    case Family::boolean:
      return boolean_text(value, column, buffer, rules);
    case Family::int16:
    case Family::int32:
    case Family::int64:
      return column.range ? ranged_integer_text(value, column, buffer) : integer_text(value, column, buffer);
    case Family::numeric:
      return numeric_text(value, column, buffer);
    case Family::float32:
    case Family::float64:
      return float_text(value, column, buffer);
    case Family::text:
      return text_text(value, column, buffer, rules);
    case Family::bytes:
      return bytes_text(value, column, buffer);
    case Family::date:
      return date_text(value, buffer);
    case Family::time:
      return time_text(value, buffer);
    case Family::timestamp:
    case Family::timestamptz:
      return timestamp_text(value, column, buffer);
    case Family::json:
      return json_text(value, column, buffer, rules);
    case Family::uuid:
      return uuid_text(value, buffer);
    case Family::enumeration:
    case Family::set:
      return listed_text(value, column, buffer, rules);
    case Family::other:
      return free_text(value, buffer, rules);
  }
  return refused("has a type that is not known");
}

}  // namespace sluice::sql
