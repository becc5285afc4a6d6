// A record that cannot be written, and why. That is expected, so it is a value and not an Error.
#pragma once

#include <string>
#include <string_view>

#include "core/model/ids.h"

namespace sluice {

enum class RejectClass {
  data,        // it does not decode, or its column cannot hold the value
  constraint,  // the database has a rule against the row: a key, a reference, a check, a trigger
};

constexpr std::string_view to_string(RejectClass of) {
  return of == RejectClass::data ? "data" : "constraint";
}

struct Reject {
  Origin origin;
  std::string field;   // path of the field or name of the column; empty: the record as a whole
  std::string reason;  // says what is wrong, never what the value was
  RejectClass of = RejectClass::data;
  std::string code = {};  // the server's own; empty: it was refused before a server saw it
  std::string sink = {};  // of several, the one that cannot take it; empty: whichever there is

  // "column amount: is too large"
  std::string text() const { return field.empty() ? reason : "column " + field + ": " + reason; }
};

}  // namespace sluice
