// A record that could not be written, as it is put aside: with its reason, and with all that is needed to try again.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/model/ids.h"
#include "core/model/reject.h"

namespace sluice {

struct DeadLetter {
  Split split;
  std::int64_t offset = 0;
  std::int64_t timestamp_ms = -1;  // -1: none
  std::optional<std::string> key;
  std::optional<std::string> value;
  std::vector<std::pair<std::string, std::string>> headers;
  RejectClass of = RejectClass::data;
  std::string code;     // the server's own, or empty
  std::string message;  // names the column; never holds the value
  Epoch epoch{};
  std::string sink;  // of several, the one that could not take it; empty: all to which its topic goes
};

// Where letters go that the sink does not keep itself: a topic. Used by all tasks, each on its own thread.
class LetterOutbox {
 public:
  virtual ~LetterOutbox() = default;

  // Returns when all of them are safe there, or throws an Error. Called before the commit of their epoch, so that a
  // letter may be there twice after a crash, but is never missing.
  virtual void deliver(std::span<const DeadLetter> letters) = 0;
};

}  // namespace sluice
