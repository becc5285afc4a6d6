// Verbs over one connection to a database; no protocol. A session never reconnects: a broken one is thrown away (a
// client that reconnects by itself goes on outside the transaction it lost).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/value.h"

namespace sluice::sql {

struct PreparedTransaction {
  std::string name;
  std::string prepared_at;  // empty where the server does not say
};

using Row = std::vector<std::optional<std::string>>;

// Used by one thread at a time. Every verb throws Error with the fault that the driver's code stands for; statements
// that fail inside a transaction leave it good for rollback only (or for rollback to a savepoint).
class Session {
 public:
  virtual ~Session() = default;  // rolls back what is open

  // Opens a transaction that holds the timeouts of the job; on SQLite it takes the write lock at once.
  virtual void begin() = 0;
  // A lost answer is Error(in_doubt).
  virtual void commit() = 0;
  virtual void rollback() noexcept = 0;

  // Arguments stand for the dialect's placeholders; Text, Bytes, int64 and Null only. Returns the rows affected.
  virtual std::uint64_t execute(const std::string& sql, std::span<const Value> arguments) = 0;
  virtual std::vector<Row> query(const std::string& sql, std::span<const Value> arguments) = 0;
  std::uint64_t execute(const std::string& sql) { return execute(sql, {}); }
  std::vector<Row> query(const std::string& sql) { return query(sql, {}); }

  // The same in two phases: a transaction with a name ("sluice/.../..."), which outlives its session once it is
  // prepared. Neither is supported by every database: Database::two_phase_obstacle() tells.
  virtual void begin_named(const std::string& name);
  // A lost answer is Error(in_doubt). No transaction is open then.
  virtual void prepare_transaction(const std::string& name);
  // Outside of a transaction. False: the server knows no prepared transaction of that name.
  virtual bool commit_prepared(const std::string& name);
  virtual bool rollback_prepared(const std::string& name);
  // All that this session can see, also those of others.
  virtual std::vector<PreparedTransaction> prepared_transactions();

  // From another thread, while a verb waits for the server: it fails as if the connection had broken, and the session
  // is good for nothing any more.
  virtual void interrupt() noexcept = 0;

  // What another session needs to end this one: a server's session id with something that tells it from a later
  // session with the same id. Empty where sessions cannot be ended from outside.
  virtual std::string id() const = 0;
  // Ends the session with that id if it still is the same one. False: gone already, or not to be ended.
  virtual bool end_session(const std::string& id) = 0;
};

}  // namespace sluice::sql
