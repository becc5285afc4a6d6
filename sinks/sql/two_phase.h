// The parts of two-phase commit that every database shares: names of prepared transactions, the rows that prove a
// commit, and the decision what becomes of those that were left.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/ids.h"
#include "sinks/sql/database.h"
#include "sinks/sql/session.h"

namespace sluice::sql {

// What follows the prefix of a job's sink: "<task>/<generation>/<number>". Counters only, never clocks. The number
// grows with each transaction that a task begins.
struct TransactionName {
  std::size_t task = 0;
  Generation generation{};
  std::uint64_t number = 0;

  std::string text(std::string_view prefix) const;
  // Nothing: not one of this prefix.
  static std::optional<TransactionName> parse(std::string_view prefix, std::string_view text);
};

enum class Settlement { leave, commit, roll_back };

// A transaction that is prepared, seen by a task of a process of this generation. `decided`: a checkpoint holds it.
Settlement settlement(const TransactionName& found, bool decided, std::size_t task, Generation generation);

// The table sluice_epochs. A row is written inside its transaction: where it is, that one was committed.
class EpochRows {
 public:
  // `dialect` is borrowed.
  EpochRows(const Dialect& dialect, std::string job, std::string sink);

  // In the open transaction. Older rows of the task go with it: their checkpoints have been followed by others.
  void put(Session& session, const TransactionName& name, const std::string& transaction) const;
  bool holds(Session& session, const std::string& transaction) const;

 private:
  const Dialect& dialect_;
  std::string job_;
  std::string sink_;
};

}  // namespace sluice::sql
