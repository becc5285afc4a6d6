// The one error type. It answers the one question that matters to the runtime: what must be done now?
// What is expected (no data, a record that does not decode, a lost race for a lock) is a value, not an Error.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

#include "core/model/ids.h"

namespace sluice {

enum class Fault {
  retryable,   // drop the session, back off, take the splits over again, replay the epoch
  in_doubt,    // the answer to a commit was lost: the same, and the ledger tells what happened
  bad_record,  // the data is at fault: find the record, then do as errors.tolerance says
  fenced,      // a newer generation owns the split: stop at once, touch nothing
  fatal,       // a person must act: missing table or right, wrong job file
};

std::string_view to_string(Fault fault);

class Error : public std::runtime_error {
 public:
  // `what` says what failed, where, why and what to do next. It never holds a secret or a value of a row.
  // `code` is the driver's own: a SQLSTATE, an errno, the name of a Kafka error.
  Error(Fault fault, const std::string& what, std::string code = {});

  Fault fault() const noexcept { return fault_; }
  const std::string& code() const noexcept { return code_; }

 private:
  Fault fault_;
  std::string code_;
};

// A record that cannot be written, and which one it is. Thrown by a sink before or after the server saw it.
class BadRecord : public Error {
 public:
  BadRecord(Origin origin, std::string column, std::string reason, std::string code = {});

  Origin origin() const noexcept { return origin_; }
  const std::string& column() const noexcept { return column_; }  // empty: the record as a whole
  const std::string& reason() const noexcept { return reason_; }

 private:
  Origin origin_;
  std::string column_;
  std::string reason_;
};

}  // namespace sluice
