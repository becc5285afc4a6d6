#include "core/testing/faulty_session.h"

#include <utility>

#include "core/model/error.h"

namespace sluice::testing {

namespace {

class FaultyLoader final : public sql::RowLoader {
 public:
  FaultyLoader(std::unique_ptr<sql::RowLoader> inner, FaultySession& session)
      : inner_(std::move(inner)), session_(session) {}

  void add(const Batch& batch, std::size_t first, std::size_t last, std::vector<Reject>& rejects) override {
    session_.run("add rows", [&] { inner_->add(batch, first, last, rejects); });
  }
  void finish() override {
    session_.run("finish rows", [&] { inner_->finish(); });
  }
  std::optional<std::size_t> refused_row() const override { return inner_->refused_row(); }

 private:
  std::unique_ptr<sql::RowLoader> inner_;
  FaultySession& session_;
};

}  // namespace

FaultPlan::FaultPlan(std::uint64_t call, FaultKind kind, std::function<void(const std::string&)> end_session)
    : call_(call), kind_(kind), end_session_(std::move(end_session)) {}

std::string FaultPlan::failed_call() const {
  const std::scoped_lock lock(mutex_);
  return failed_call_;
}

void FaultPlan::fail(const std::string& name) const {
  if (kind_ == FaultKind::death_before || kind_ == FaultKind::death_after) throw ProcessDied();
  // Whoever asks for a commit and hears nothing cannot know more than this.
  throw Error(name == "commit" ? Fault::in_doubt : Fault::retryable, "the test lost the connection at: " + name);
}

void FaultPlan::run(const std::string& name, sql::Session* session, std::atomic<bool>& broken,
                    const std::function<void()>& call) {
  if (broken) {
    ++late_calls_;
    throw Error(Fault::retryable, "a broken session was used again for: " + name);
  }
  if (++calls_ != call_) return call();
  {
    const std::scoped_lock lock(mutex_);
    failed_call_ = name;
  }
  fired_ = true;
  if (kind_ == FaultKind::ended_session) {
    // The real thing from here on: nothing stands between the caller and its client library.
    if (session != nullptr) end_session_(session->id());
    return call();
  }
  if (kind_ == FaultKind::lost_answer || kind_ == FaultKind::death_after) call();
  broken = true;
  fail(name);
}

FaultySession::FaultySession(std::unique_ptr<sql::Session> inner, std::shared_ptr<FaultPlan> plan)
    : inner_(std::move(inner)), plan_(std::move(plan)) {}

FaultySession::~FaultySession() = default;

void FaultySession::begin() {
  run("begin", [&] { inner_->begin(); });
}

void FaultySession::commit() {
  run("commit", [&] { inner_->commit(); });
}

void FaultySession::begin_named(const std::string& name) {
  run("begin " + name, [&] { inner_->begin_named(name); });
}

void FaultySession::prepare_transaction(const std::string& name) {
  run("prepare " + name, [&] { inner_->prepare_transaction(name); });
}

bool FaultySession::commit_prepared(const std::string& name) {
  bool there = false;
  run("commit prepared " + name, [&] { there = inner_->commit_prepared(name); });
  return there;
}

bool FaultySession::rollback_prepared(const std::string& name) {
  bool there = false;
  run("roll back prepared " + name, [&] { there = inner_->rollback_prepared(name); });
  return there;
}

std::vector<sql::PreparedTransaction> FaultySession::prepared_transactions() {
  std::vector<sql::PreparedTransaction> all;
  run("list what is prepared", [&] { all = inner_->prepared_transactions(); });
  return all;
}

// Nobody hears the client of a broken connection: the server rolls back when it notices, here with the destructor.
void FaultySession::rollback() noexcept {
  if (!broken_) inner_->rollback();
}

std::uint64_t FaultySession::execute(const std::string& sql, std::span<const Value> arguments) {
  std::uint64_t rows = 0;
  run("execute " + sql, [&] { rows = inner_->execute(sql, arguments); });
  return rows;
}

std::vector<sql::Row> FaultySession::query(const std::string& sql, std::span<const Value> arguments) {
  std::vector<sql::Row> rows;
  run("query " + sql, [&] { rows = inner_->query(sql, arguments); });
  return rows;
}

bool FaultySession::end_session(const std::string& id) {
  bool ended = false;
  run("end a session", [&] { ended = inner_->end_session(id); });
  return ended;
}

FaultyDatabase::FaultyDatabase(std::unique_ptr<sql::Database> inner, std::shared_ptr<FaultPlan> plan)
    : inner_(std::move(inner)), plan_(std::move(plan)) {}

std::unique_ptr<sql::Session> FaultyDatabase::connect() {
  std::unique_ptr<sql::Session> session;
  std::atomic<bool> broken{false};
  plan_->run("connect", nullptr, broken, [&] { session = inner_->connect(); });
  return std::make_unique<FaultySession>(std::move(session), plan_);
}

std::optional<sql::Table> FaultyDatabase::describe(sql::Session& session, const std::string& table) {
  return inner_->describe(session, table);
}

std::string FaultyDatabase::name_to_create(sql::Session& session, const std::string& table) {
  return inner_->name_to_create(session, table);
}

std::unique_ptr<sql::RowLoader> FaultyDatabase::loader(sql::Session& session, const sql::LoadPlan& plan) {
  auto& faulty = dynamic_cast<FaultySession&>(session);
  return std::make_unique<FaultyLoader>(inner_->loader(faulty.inner(), plan), faulty);
}

}  // namespace sluice::testing
