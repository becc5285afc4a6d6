// The exactly-once protocol against a relational database, written once for all of them: rows stream into one open
// transaction per epoch, the ledger moves by compare-and-set as its last statement, then COMMIT.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "core/api/sink.h"
#include "sinks/sql/database.h"
#include "sinks/sql/ledger.h"
#include "sinks/sql/table.h"

namespace sluice::sql {

class SqlWriter final : public SinkWriter {
 public:
  // `database` and `ledger` are borrowed and outlive the writer; `plan_of` yields the plan of a topic that was bound.
  SqlWriter(Database& database, const Ledger& ledger, std::function<const LoadPlan&(const std::string& topic)> plan_of);
  ~SqlWriter() override;

  Positions known(const std::vector<Split>& splits) override;
  Claims take_over(const Positions& starts, const Claims& held) override;
  void write(const std::string& topic, const Batch& batch, WriteMode mode) override;
  void commit(const Cut& cut) override;
  void abort() noexcept override;
  void release(const Claims& claims) override;

 private:
  void open_epoch();
  RowLoader& loader(const std::string& topic);
  void write_isolated(RowLoader& to, const Batch& batch, std::size_t first, std::size_t last);

  Database& database_;
  const Ledger& ledger_;
  std::function<const LoadPlan&(const std::string&)> plan_of_;
  std::unique_ptr<Session> session_;
  std::string owner_;
  std::map<std::string, std::unique_ptr<RowLoader>> loaders_;  // by topic; they borrow the session
  RowLoader* streaming_ = nullptr;                             // the one whose stream is open: a session has but one
  bool open_ = false;
};

}  // namespace sluice::sql
