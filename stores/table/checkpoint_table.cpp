#include "stores/table/checkpoint_table.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "core/format/checkpoint_text.h"
#include "core/model/error.h"
#include "core/model/fault_point.h"
#include "sinks/sql/statement.h"

namespace sluice {

using sql::Statement;

namespace {

std::int64_t signed_of(std::uint64_t number) {
  return static_cast<std::int64_t>(number);
}

}  // namespace

// A session and what watches over it. The watch goes first.
struct CheckpointTable::Line {
  std::unique_ptr<sql::Session> session;
  sql::CallWatch watch;
};

CheckpointTable::CheckpointTable(CheckpointTableSettings settings, std::unique_ptr<sql::Database> database, Log log)
    : settings_(std::move(settings)), database_(std::move(database)), log_(std::move(log)) {}

CheckpointTable::~CheckpointTable() = default;

std::string CheckpointTable::name() const {
  return "table sluice_checkpoints in " + database_->name();
}

// One call at a time. A session that failed is thrown away: whatever it had begun, the server rolls back.
template <class Work>
auto CheckpointTable::with_session(Work work) const {
  const std::scoped_lock lock(mutex_);
  try {
    if (!line_) {
      auto session = database_->connect();
      sql::Session* const to_interrupt = session.get();
      line_.reset(new Line{std::move(session),
                           {settings_.calls,
                            [this](sql::CallWatch::Duration waited) {
                              log_(LogLevel::warning, "waiting for the table of checkpoints",
                                   {{"store", name()}, {"for_ms", std::to_string(waited.count())}});
                            },
                            [to_interrupt] { to_interrupt->interrupt(); }}});
    }
    const sql::CallWatch::Call call(line_->watch);
    return work(*line_->session);
  } catch (...) {
    line_.reset();
    throw;
  }
}

std::uint64_t CheckpointTable::greatest(sql::Session& session) const {
  Statement sql(database_->dialect());
  sql << "SELECT coalesce(max(generation), 0) FROM sluice_checkpoints WHERE job = ";
  sql.bind(settings_.job);
  return std::stoull(sql.query(session).at(0).at(0).value_or("0"));
}

void CheckpointTable::add_rows(sql::Session& session, std::uint64_t generation) const {
  for (std::size_t task = 0; task < settings_.tasks; ++task) {
    Statement insert(database_->dialect());
    insert << "INSERT INTO sluice_checkpoints (job, task, generation, sequence, checkpoint, published_at) VALUES (";
    insert.bind(settings_.job) << ", " << signed_of(task) << ", " << signed_of(generation) << ", 0, '', "
                               << database_->dialect().now() << ")" << database_->dialect().unless_present();
    insert.execute(session);
  }
}

// False: another process was faster. The first row decides: every job has it.
bool CheckpointTable::raise_from(sql::Session& session, std::uint64_t before) const {
  const auto raise = [&](std::string_view rows) {
    Statement update(database_->dialect());
    update << "UPDATE sluice_checkpoints SET generation = " << signed_of(before + 1) << ", sequence = 0 WHERE job = ";
    update.bind(settings_.job) << rows;
    return update.execute(session);
  };
  if (raise(" AND task = 0 AND generation = " + std::to_string(before)) != 1) return false;
  raise(" AND task <> 0");
  return true;
}

Generation CheckpointTable::raise() {
  generation_ = with_session([&](sql::Session& session) {
    std::optional<std::uint64_t> missed;
    for (;;) {
      session.begin();
      const std::uint64_t before = greatest(session);
      if (missed == before) {
        throw Error(Fault::fatal, "the rows of this job in " + name() +
                                      " do not fit each other: somebody has changed or restored some of them. Delete "
                                      "them; `sluice recover` shows what is prepared");
      }
      add_rows(session, before);
      if (raise_from(session, before)) {
        session.commit();
        sequences_.clear();
        uncertain_.clear();
        return Generation{before + 1};
      }
      session.rollback();
      missed = before;  // a faster process has made it greater
    }
  });
  fault_point("store.after_raise");
  return generation_;
}

// An answer that was lost says nothing: the statement waits in a socket, or at a lock. This one gets the row behind it
// or before it, and then it finds another sequence than it asks for.
void CheckpointTable::overtake(sql::Session& session) const {
  for (const std::size_t task : uncertain_) {
    Statement update(database_->dialect());
    update << "UPDATE sluice_checkpoints SET sequence = sequence + 1 WHERE job = ";
    update.bind(settings_.job) << " AND task = " << signed_of(task)
                               << " AND generation = " << signed_of(number(generation_));
    update.execute(session);
  }
}

void CheckpointTable::publish(std::size_t task, const Checkpoint& checkpoint) {
  const std::string text = format::checkpoint_text(checkpoint);
  with_session([&](sql::Session& session) {
    const std::int64_t sequence = sequences_[task];
    Statement update(database_->dialect());
    update << "UPDATE sluice_checkpoints SET checkpoint = ";
    update.bind(text) << ", sequence = " << sequence + 1 << ", published_at = " << database_->dialect().now()
                      << " WHERE job = ";
    update.bind(settings_.job) << " AND task = " << signed_of(task)
                               << " AND generation = " << signed_of(number(generation_))
                               << " AND sequence = " << sequence;
    uncertain_.insert(task);
    const std::uint64_t changed = update.execute(session);
    if (changed != 1) {
      if (const auto by = greatest(session); by > number(generation_)) throw_fenced(by);
      throw Error(Fault::retryable, "a statement of an earlier try came to " + name() + " late; the epoch is replayed");
    }
    sequences_[task] = sequence + 1;
    uncertain_.erase(task);
  });
}

std::map<std::size_t, Checkpoint> CheckpointTable::newest() const {
  return with_session([&](sql::Session& session) {
    overtake(session);
    Statement sql(database_->dialect());
    sql << "SELECT task, generation, sequence, checkpoint FROM sluice_checkpoints WHERE job = ";
    sql.bind(settings_.job);
    std::map<std::size_t, Checkpoint> all;
    std::uint64_t by = 0;
    for (const auto& row : sql.query(session)) {
      const std::size_t task = std::stoull(row.at(0).value_or("0"));
      by = std::max<std::uint64_t>(by, std::stoull(row.at(1).value_or("0")));
      if (uncertain_.contains(task)) sequences_[task] = std::stoll(row.at(2).value_or("0"));
      const std::string text = row.at(3).value_or("");
      if (text.empty()) continue;  // it has published none yet
      all.emplace(task, format::parse_checkpoint(text, name() + ", task " + std::to_string(task)));
    }
    if (number(generation_) != 0 && by != number(generation_)) throw_fenced(by);
    uncertain_.clear();
    return all;
  });
}

void CheckpointTable::throw_fenced(std::uint64_t by) const {
  throw Error(Fault::fenced, "another process of this job has started since (generation " + std::to_string(by) +
                                 " in " + name() +
                                 "): this one must stop. What it had prepared and not published is rolled back");
}

}  // namespace sluice
