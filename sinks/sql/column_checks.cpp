#include "sinks/sql/column_checks.h"

namespace sluice::sql {

namespace {

std::string of_numeric(const Column& column) {
  if (!column.precision) return "number, every digit kept";
  return "number, at most " + std::to_string(*column.precision - column.scale) +
         " digits before the point, rounded to " + std::to_string(column.scale) + " behind it";
}

std::string of_family(const Column& column) {
  if (column.range) {
    return (column.family == Family::boolean ? "true, false, or a whole number from " : "whole number from ") +
           std::to_string(column.range->min) + " to " + std::to_string(column.range->max);
  }
  switch (column.family) {
    case Family::boolean:
      return "true or false";
    case Family::int16:
      return "whole number of 16 bits";
    case Family::int32:
      return "whole number of 32 bits";
    case Family::int64:
      return "whole number of 64 bits";
    case Family::numeric:
      return of_numeric(column);
    case Family::float32:
      return "number within the range of 32-bit reals";
    case Family::float64:
      return "number within the range of 64-bit reals";
    case Family::text:
      return column.length_max ? "at most " + std::to_string(*column.length_max) + " characters, no NUL" : "no NUL";
    case Family::bytes:
      return "base64, or the bytes of a key or header";
    case Family::date:
      return "date, or days since 1970";
    case Family::time:
      return "time of day";
    case Family::timestamp:
    case Family::timestamptz:
      return "time, or milliseconds since 1970";
    case Family::json:
      return "JSON";
    case Family::uuid:
      return "UUID";
    case Family::enumeration:
      return "one of the column's values";
    case Family::set:
      return "some of the column's values, with commas between";
    case Family::other:
      return "by the server alone";
  }
  return {};
}

}  // namespace

std::string checks_of(const Column& column) {
  return of_family(column) + (column.nullable ? "" : ", not null");
}

}  // namespace sluice::sql
