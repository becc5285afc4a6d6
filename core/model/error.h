// The one error type. It answers the one question that matters to the runtime: what must be done now?
// What is expected (no data, a record that cannot be written, a lost race for a lock) is a value, not an Error.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace sluice {

enum class Fault {
  retryable,   // drop the session, back off, take the splits over again, replay the epoch
  in_doubt,    // the answer to a commit was lost: the same, and the ledger tells what happened
  bad_record,  // the data is at fault, not known which record: replay the epoch and look for it
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

}  // namespace sluice
