// What a database folder offers to the protocol: sessions, text in its dialect, and the fastest way in for rows.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/api/finding.h"
#include "core/model/batch.h"
#include "core/model/reject.h"
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

  // Encodes rows [first, last) and sends them as the server takes them. A row with a value that its column cannot hold
  // is left out and appended to `rejects`.
  virtual void add(const Batch& batch, std::size_t first, std::size_t last, std::vector<Reject>& rejects) = 0;

  // Every row is on the server and accepted; the session is free for other statements. More rows may follow, also after
  // an Error, which leaves the loader empty.
  virtual void finish() = 0;

  // After an Error(bad_record): which row it was, counted from 0 among those sent since the last finish(), where the
  // server says so. A hint that spares a search.
  virtual std::optional<std::size_t> refused_row() const { return std::nullopt; }
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
  // An expression: the bytes of a column as hex digits, NULL where it is NULL.
  virtual std::string hex(std::string_view column) const = 0;
  // Makes rules that would be checked at the commit be checked at once, for the rest of the transaction. Empty: there
  // is no such statement.
  virtual std::string check_rules_at_once() const = 0;
  // Whether an error code of the server says that a rule of the database (a key, a reference, a check, a trigger) was
  // broken, not that a value is wrong in itself.
  virtual bool is_rule(std::string_view code) const = 0;
  // Serialises concurrent migrations until the end of the transaction. Empty: the transaction itself does.
  virtual std::string migration_lock() const = 0;
  // Behind it, where a lock would outlive the transaction.
  virtual std::string migration_unlock() const { return {}; }
};

// What `check` wants to know about.
struct InspectionSubject {
  InsertMode mode = InsertMode::insert;
  bool erases = false;
  bool recovery_tables = true;  // the job keeps its own there
  std::size_t tasks = 1;
  int port = 0;                  // that the job connects to; 0: the default, or none
  const Table* table = nullptr;  // borrowed
};

class Database {
 public:
  virtual ~Database() = default;

  virtual const Dialect& dialect() const = 0;
  // How messages name it: no password.
  virtual std::string name() const = 0;
  virtual std::span<const Migration> migrations() const = 0;

  virtual std::unique_ptr<Session> connect() = 0;
  // Where connect() would make the database, a session of an empty one, for those who only ask; nullptr: it is there,
  // or not to be made.
  virtual std::unique_ptr<Session> empty_instead() { return nullptr; }

  // Nothing if there is no such table. The name is looked up exactly as written, upper and lower case included; where
  // the database has schemas, a name with a dot that is no table itself is taken for schema.table.
  virtual std::optional<Table> describe(Session& session, const std::string& table) = 0;
  // How CREATE TABLE must write the name of a table that describe() did not find.
  virtual std::string name_to_create(Session& session, const std::string& table);

  virtual std::unique_ptr<RowLoader> loader(Session& session, const LoadPlan& plan) = 0;

  // Traps of the server, and of the subject's table where it names one. Changes nothing.
  virtual Findings inspect(Session&, const InspectionSubject&) { return {}; }

  // Why transactions cannot be prepared on this server, with the next step; empty: they can.
  virtual std::string two_phase_obstacle(Session& session);
  // In front of the names of a job's prepared transactions, none of which is another job's or sink's.
  virtual std::string transaction_prefix(const std::string& job, const std::string& sink) const;

  // How many tasks may hold transactions at once; 1 for SQLite.
  virtual std::size_t writers_max() const = 0;
};

}  // namespace sluice::sql
