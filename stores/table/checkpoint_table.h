// Checkpoints as rows of a table in a database: for hosts without a disk that stays.
//
// Every row carries the generation. Raising it rewrites all rows of the job; publishing is one statement that changes
// the task's row only while generation and sequence are what this process knows. One statement is begun and ended by
// the server: a process that is stopped in the middle of it keeps nothing locked. One whose answer was lost may still
// be on its way: before anybody relies on what the table says, the sequence is moved on, and it comes too late.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>

#include "core/api/checkpoint.h"
#include "core/api/log.h"
#include "sinks/sql/call_watch.h"
#include "sinks/sql/database.h"

namespace sluice {

struct CheckpointTableSettings {
  std::string job;
  std::size_t tasks = 1;
  sql::CallLimits calls;  // a call that takes longer is given up
};

class CheckpointTable final : public CheckpointStore {
 public:
  // The table is there: migrations make it.
  CheckpointTable(CheckpointTableSettings settings, std::unique_ptr<sql::Database> database, Log log);
  ~CheckpointTable() override;

  Generation raise() override;
  void publish(std::size_t task, const Checkpoint& checkpoint) override;
  std::map<std::size_t, Checkpoint> newest() const override;
  std::string name() const override;

 private:
  template <class Work>
  auto with_session(Work work) const;
  std::uint64_t greatest(sql::Session& session) const;
  void add_rows(sql::Session& session, std::uint64_t generation) const;
  bool raise_from(sql::Session& session, std::uint64_t before) const;
  void overtake(sql::Session& session) const;
  [[noreturn]] void throw_fenced(std::uint64_t by) const;

  CheckpointTableSettings settings_;
  std::unique_ptr<sql::Database> database_;
  Log log_;
  Generation generation_{};  // of this process; 0: not raised

  struct Line;
  mutable std::mutex mutex_;            // guards what follows
  mutable std::unique_ptr<Line> line_;  // to the server
  mutable std::map<std::size_t, std::int64_t> sequences_;
  mutable std::set<std::size_t> uncertain_;  // tasks whose last publication may come to the server yet
};

}  // namespace sluice
