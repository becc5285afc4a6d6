#include "core/model/error.h"

#include <utility>

namespace sluice {

std::string_view to_string(Fault fault) {
  switch (fault) {
    case Fault::retryable:
      return "retryable";
    case Fault::in_doubt:
      return "in doubt";
    case Fault::bad_record:
      return "bad record";
    case Fault::fenced:
      return "fenced";
    case Fault::fatal:
      return "fatal";
  }
  return "unknown";
}

Error::Error(Fault fault, const std::string& what, std::string code)
    : std::runtime_error(what), fault_(fault), code_(std::move(code)) {}

}  // namespace sluice
