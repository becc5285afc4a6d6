// A database whose n-th call fails, for n = 1, 2, ... until a run passes: the main test of every recovery.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "sinks/sql/database.h"
#include "sinks/sql/session.h"

namespace sluice::testing {

enum class FaultKind {
  lost_request,   // the call has no effect
  lost_answer,    // the call has its effect, and its caller never learns of it
  death_before,   // the process dies before the call, or
  death_after,    // right after it: ProcessDied is thrown, and only destructors run
  ended_session,  // the server ends the session, and the call meets what is left of it
};

// No std::exception, so that nothing in the process can recover from its own death.
struct ProcessDied {};

// Which call fails, and what was seen. Shared by all sessions of a run; used from any thread.
class FaultPlan {
 public:
  // `call` counts from 1. `end_session` makes the server end the session of this id and waits until it has.
  FaultPlan(std::uint64_t call, FaultKind kind, std::function<void(const std::string& id)> end_session = {});

  bool fired() const { return fired_; }
  // The call that failed, for messages.
  std::string failed_call() const;
  // Calls on a session after it had failed: none must be made.
  std::uint64_t late_calls() const { return late_calls_; }

  // For the decorators. Runs the call, or what the plan has for it. `broken` belongs to the session.
  void run(const std::string& name, sql::Session* session, std::atomic<bool>& broken,
           const std::function<void()>& call);

 private:
  [[noreturn]] void fail(const std::string& name) const;

  const std::uint64_t call_;
  const FaultKind kind_;
  const std::function<void(const std::string&)> end_session_;
  std::atomic<std::uint64_t> calls_{0};
  std::atomic<std::uint64_t> late_calls_{0};
  std::atomic<bool> fired_{false};
  mutable std::mutex mutex_;  // guards what follows
  std::string failed_call_;
};

class FaultySession final : public sql::Session {
 public:
  FaultySession(std::unique_ptr<sql::Session> inner, std::shared_ptr<FaultPlan> plan);
  ~FaultySession() override;

  void begin() override;
  void commit() override;
  void rollback() noexcept override;
  std::uint64_t execute(const std::string& sql, std::span<const Value> arguments) override;
  std::vector<sql::Row> query(const std::string& sql, std::span<const Value> arguments) override;
  void begin_named(const std::string& name) override;
  void prepare_transaction(const std::string& name) override;
  bool commit_prepared(const std::string& name) override;
  bool rollback_prepared(const std::string& name) override;
  std::vector<sql::PreparedTransaction> prepared_transactions() override;
  void interrupt() noexcept override { inner_->interrupt(); }
  std::string id() const override { return inner_->id(); }
  bool end_session(const std::string& id) override;

  sql::Session& inner() { return *inner_; }
  void run(const std::string& name, const std::function<void()>& call) {
    plan_->run(name, inner_.get(), broken_, call);
  }

 private:
  std::unique_ptr<sql::Session> inner_;
  std::shared_ptr<FaultPlan> plan_;
  std::atomic<bool> broken_{false};
};

// Counts calls of its sessions and loaders, and connect() itself. Give SqlSink this one instead of the database.
class FaultyDatabase final : public sql::Database {
 public:
  FaultyDatabase(std::unique_ptr<sql::Database> inner, std::shared_ptr<FaultPlan> plan);

  const sql::Dialect& dialect() const override { return inner_->dialect(); }
  std::string name() const override { return inner_->name(); }
  std::span<const sql::Migration> migrations() const override { return inner_->migrations(); }
  std::unique_ptr<sql::Session> connect() override;
  std::optional<sql::Table> describe(sql::Session& session, const std::string& table) override;
  std::string name_to_create(sql::Session& session, const std::string& table) override;
  std::unique_ptr<sql::RowLoader> loader(sql::Session& session, const sql::LoadPlan& plan) override;
  Findings inspect(sql::Session& session, const sql::InspectionSubject& subject) override {
    return inner_->inspect(session, subject);
  }
  std::string two_phase_obstacle(sql::Session& session) override {
    return inner_->two_phase_obstacle(dynamic_cast<FaultySession&>(session).inner());
  }
  std::string transaction_prefix(const std::string& job, const std::string& sink) const override {
    return inner_->transaction_prefix(job, sink);
  }
  std::size_t writers_max() const override { return inner_->writers_max(); }

 private:
  std::unique_ptr<sql::Database> inner_;
  std::shared_ptr<FaultPlan> plan_;
};

}  // namespace sluice::testing
