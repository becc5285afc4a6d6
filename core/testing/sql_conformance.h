// A relational database for the conformance suite: only what differs is left to say.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/testing/sink_under_test.h"
#include "sinks/sql/database.h"
#include "sinks/sql/sql_sink.h"

namespace sluice::testing {

class SqlUnderTest : public SinkUnderTest {
 public:
  void create_table(const TestTable& table) override;  // drops one of that name
  std::unique_ptr<Sink> open(const TestJob& job) override;
  std::vector<TestRow> rows(const TestTable& table) override;
  std::vector<DeadLetter> letters() override;
  void disown_ledger() override;

  // A new one each time, all of the same schema, which is empty at first.
  virtual std::unique_ptr<sql::Database> database() = 0;

  // Transactions of TestJob's default job that are prepared, of whatever sink.
  std::vector<std::string> prepared(const std::vector<std::string>& sinks);

  // Drops the recovery tables, so that the next sink begins from nothing.
  void clear();
  // Leaves these tables and the recovery tables without rows, but for what says which migrations were applied.
  void empty(const std::vector<std::string>& tables);
  // Makes the server end that session and waits until it has.
  void end_session(const std::string& id);

 protected:
  // An expression that yields a column's cell as TestRow wants it; `column` is quoted.
  virtual std::string cell(Kind kind, const std::string& column) const = 0;

 private:
  sql::Session& outside();

  std::unique_ptr<sql::Database> own_;
  std::unique_ptr<sql::Session> session_;
};

// The settings of SqlSink that stand for the job.
sql::SqlSinkSettings sql_settings(const TestJob& job);

}  // namespace sluice::testing
