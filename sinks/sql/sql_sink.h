// A relational database as a sink: tables found or created, topics bound to them, writers that share the ledger's
// rules.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "core/api/log.h"
#include "core/api/sink.h"
#include "sinks/sql/binding.h"
#include "sinks/sql/database.h"
#include "sinks/sql/ledger.h"

namespace sluice::sql {

struct SqlSinkSettings {
  std::string job;
  std::string sink;
  std::string table_name_format;    // ${topic} stands for the record's topic
  std::vector<std::string> topics;  // those known beforehand are bound at the start, so that mistakes show at once
  std::size_t tasks = 1;
  MappingSettings mapping;
};

class SqlSink final : public Sink {
 public:
  SqlSink(SqlSinkSettings settings, std::unique_ptr<Database> database, Log log);
  ~SqlSink() override;

  void prepare(bool migrate) override;
  RowShape bind(const std::string& topic, const std::function<std::vector<Field>()>& infer) override;
  std::unique_ptr<SinkWriter> open_writer(std::size_t task) override;
  Positions positions() override;

  // For `status`: everything the ledger says of the job.
  std::map<Split, LedgerEntry> ledger();
  // For `migrate`: names of the migrations that were applied, or that would be.
  std::vector<std::string> migrate(bool apply);
  // For `check`: what a topic is bound to; nothing when the table does not exist yet.
  std::optional<Binding> existing_binding(const std::string& topic);
  Database& database() { return *database_; }
  std::string table_for(const std::string& topic) const;

 private:
  template <class Work>
  auto with_control(Work work);
  Binding bind_table(Session& session, const std::string& topic, const std::function<std::vector<Field>()>& infer);

  SqlSinkSettings settings_;
  std::unique_ptr<Database> database_;
  Ledger ledger_;
  Log log_;

  std::mutex mutex_;                      // guards what follows
  std::unique_ptr<Session> control_;      // for questions outside epochs
  std::map<std::string, Binding> bound_;  // by topic; entries stay where they are
};

}  // namespace sluice::sql
