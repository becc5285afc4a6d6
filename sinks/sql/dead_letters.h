// The table of records that could not be written. It belongs to the same transactions as the rows, so that a record is
// in exactly one of the two.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/api/dead_letter.h"
#include "sinks/sql/database.h"
#include "sinks/sql/session.h"
#include "sinks/sql/statement.h"

namespace sluice::sql {

struct StoredLetter {
  DeadLetter letter;
  std::string created_at;
};

class DeadLetters {
 public:
  // `dialect` is borrowed.
  DeadLetters(const Dialect& dialect, std::string job, std::string sink);

  // In the open transaction. A letter of the same record, from an earlier reading of it, is replaced.
  void put(Session& session, std::span<const DeadLetter> letters) const;

  // The first ones behind `after` in the order of topic, partition and offset.
  std::vector<StoredLetter> read(Session& session, std::size_t count, const DeadLetter* after = nullptr) const;
  std::uint64_t count(Session& session) const;

  // Class, code and reason of letters that are still there.
  void renew(Session& session, std::span<const DeadLetter> letters) const;

  // Returns how many of them were there.
  std::uint64_t remove(Session& session, std::span<const DeadLetter> letters) const;
  std::uint64_t remove_all(Session& session) const;
  // Of a split from an offset on.
  std::uint64_t count_from(Session& session, const Split& split, std::int64_t offset) const;

 private:
  Statement statement() const { return Statement(dialect_); }
  void add_where_job(Statement& sql) const;
  void insert(Session& session, std::span<const DeadLetter> letters) const;
  std::uint64_t remove_some(Session& session, std::span<const DeadLetter> letters) const;

  const Dialect& dialect_;
  std::string job_;
  std::string sink_;
};

}  // namespace sluice::sql
