// What a database folder offers to the protocol: sessions, text in its dialect, and the fastest way in for rows.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/model/batch.h"
#include "sinks/sql/session.h"
#include "sinks/sql/table.h"

namespace sluice::sql {

// One file of migrations/<database>/, embedded in the binary.
struct Migration {
  int version = 0;
  std::string_view name;
  std::string_view sql;
};

// Rows of one table on their way into the open transaction of one session. It borrows the session.
class RowLoader {
 public:
  virtual ~RowLoader() = default;  // gives up what was not finished

  // Encodes rows [first, last) and sends them as the server takes them. A value that its column cannot hold throws
  // BadRecord; rows before it may be on their way, so that the epoch must be rolled back (to a savepoint, or whole).
  virtual void add(const Batch& batch, std::size_t first, std::size_t last) = 0;

  // Every row is on the server and accepted; the session is free for other statements. More rows may follow, also after
  // an Error other than BadRecord, which leaves the loader empty.
  virtual void finish() = 0;
};

// Stateless text. Used from any thread.
class Dialect {
 public:
  virtual ~Dialect() = default;

  virtual std::string quote(std::string_view identifier) const = 0;
  // The n-th placeholder of a statement, from 1.
  virtual std::string placeholder(std::size_t n) const = 0;
  // Type of a column that is created for a kind; `key` where the type must be fit for a primary key.
  virtual std::string type_for(Kind kind, bool key) const = 0;
  // Current time as the recovery tables store it.
  virtual std::string now() const = 0;
  // Ends an INSERT that is to leave a row alone which is there already.
  virtual std::string unless_present() const = 0;
  // Serialises concurrent migrations until the end of the transaction. Empty: the transaction itself does.
  virtual std::string migration_lock() const = 0;
};

class Database {
 public:
  virtual ~Database() = default;

  virtual const Dialect& dialect() const = 0;
  // How messages name it: no password.
  virtual std::string name() const = 0;
  virtual std::span<const Migration> migrations() const = 0;

  virtual std::unique_ptr<Session> connect() = 0;

  // Nothing if there is no such table. The name is looked up exactly as written, upper and lower case included; where
  // the database has schemas, a name with a dot that is no table itself is taken for schema.table.
  virtual std::optional<Table> describe(Session& session, const std::string& table) = 0;
  // How CREATE TABLE must write the name of a table that describe() did not find.
  virtual std::string name_to_create(Session& session, const std::string& table);

  virtual std::unique_ptr<RowLoader> loader(Session& session, const LoadPlan& plan) = 0;

  // How many tasks may hold transactions at once; 1 for SQLite.
  virtual std::size_t writers_max() const = 0;
};

}  // namespace sluice::sql
