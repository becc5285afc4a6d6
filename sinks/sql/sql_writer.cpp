#include "sinks/sql/sql_writer.h"

#include <utility>

#include "core/model/error.h"
#include "core/model/fault_point.h"
#include "sinks/sql/owner.h"

namespace sluice::sql {

namespace {

// A stream of rows is interrupted for letters no more often than this.
constexpr std::size_t letters_max = 1000;
constexpr std::size_t letter_bytes_max = std::size_t{1} << 20;

// Which of the rows [first, last) the server has refused, as far as it says: `left_out` were not sent to it.
std::size_t refused_row(const RowLoader& by, const Batch& batch, std::size_t first, std::size_t last,
                        std::span<const Reject> left_out) {
  auto to_pass = by.refused_row();
  for (std::size_t row = first; to_pass && row < last; ++row) {
    if (!left_out.empty() && left_out.front().origin == batch.origin(row)) {
      left_out = left_out.subspan(1);
    } else if ((*to_pass)-- == 0) {
      return row;
    }
  }
  return first + (last - first) / 2;
}

}  // namespace

SqlWriter::SqlWriter(Database& database, const Ledger* ledger, const DeadLetters& letters,
                     std::function<const LoadPlan&(const std::string& topic)> plan_of, const CallLimits& limits,
                     const Log& log, std::optional<Branching> branching)
    : database_(database),
      ledger_(ledger),
      dead_letters_(letters),
      plan_of_(std::move(plan_of)),
      session_(database.connect()),
      watch_(
          limits,
          [&database, log](CallWatch::Duration waited) {
            log(LogLevel::warning, "waiting for " + database.name() + ", which does not answer",
                {{"seconds", std::to_string(waited.count() / 1000)}});
          },
          [this] { session_->interrupt(); }),
      owner_(Owner::of_this_process(session_->id()).text()),
      branching_(std::move(branching)) {}

SqlWriter::~SqlWriter() {
  abort();
}

// Runs what talks to the server, and gives it up when it takes too long.
template <class Work>
auto SqlWriter::watched(Work work) {
  try {
    const CallWatch::Call call(watch_);
    return work();
  } catch (const Error& error) {
    if (!watch_.gave_up()) throw;
    const bool in_doubt = error.fault() == Fault::in_doubt;
    throw Error(in_doubt ? Fault::in_doubt : Fault::retryable,
                database_.name() + " did not answer for " + std::to_string(watch_.limit().count() / 1000) +
                    " s; the epoch is given up, so that the source is polled in time: " + error.what(),
                error.code());
  }
}

std::map<Split, Known> SqlWriter::known(const std::vector<Split>& splits) {
  std::map<Split, Known> all;
  if (ledger_ == nullptr) return all;
  seen_.clear();
  for (const Split& split : splits) seen_[split] = Generation{0};
  for (const auto& [split, entry] : watched([&] { return ledger_->read(*session_, &splits); })) {
    seen_[split] = entry.claim.generation;
    all.emplace(split, known_from(entry));
  }
  return all;
}

Claims SqlWriter::take_over(const Positions& starts, const Claims& held, const TopicIds& topics) {
  if (ledger_ == nullptr) {
    Claims claims;
    for (const auto& [split, start] : starts) {
      const auto before = held.find(split);
      const std::uint64_t generation = before == held.end() ? 1 : number(before->second.generation) + 1;
      claims.emplace(split, Claim{start, Generation{generation}, {}});
    }
    return claims;
  }
  const auto seen = std::exchange(seen_, {});
  return watched([&] { return ledger_->take_over(*session_, owner_, starts, held, seen, topics); });
}

void SqlWriter::open_epoch() {
  if (open_) return;
  if (branching_) {
    branching_->name.number = ++*branching_->numbers;
    session_->begin_named(branching_->name.text(branching_->prefix));
  } else {
    session_->begin();
  }
  open_ = true;
  rules_at_once_ = false;
  fault_point("sink.after_begin");
}

void SqlWriter::write(const std::string& topic, const Batch& batch, WriteMode mode, std::vector<Reject>& rejects) {
  const bool first = !open_;
  watched([&] {
    open_epoch();
    RowLoader& to = loader(topic);
    if (mode == WriteMode::streaming) return to.add(batch, 0, batch.rows(), rejects);
    to.finish();  // what was streamed before: no savepoint can be set while a stream is open
    if (mode == WriteMode::strict) check_rules_at_once();
    write_isolated(to, batch, 0, batch.rows(), rejects);
  });
  if (first) fault_point("sink.after_first_write");
}

void SqlWriter::check_rules_at_once() {
  const std::string statement = database_.dialect().check_rules_at_once();
  if (!rules_at_once_ && !statement.empty()) session_->execute(statement);
  rules_at_once_ = true;
}

RowLoader& SqlWriter::loader(const std::string& topic) {
  auto& loader = loaders_[topic];
  if (!loader) loader = database_.loader(*session_, plan_of_(topic));
  if (streaming_ != nullptr && streaming_ != loader.get()) streaming_->finish();
  streaming_ = loader.get();
  return *loader;
}

// Splits what the server refuses, where it says so or in the middle, until one row is left. So one bad row of n costs
// four statements more, or about 2 log2(n) where the server does not name it.
void SqlWriter::write_isolated(RowLoader& to, const Batch& batch, std::size_t first, std::size_t last,
                               std::vector<Reject>& rejects) {
  if (first == last) return;
  watch_.touch();  // a batch with many bad rows takes many statements
  const std::size_t known = rejects.size();
  session_->execute("SAVEPOINT sluice_rows");
  try {
    to.add(batch, first, last, rejects);
    to.finish();
    session_->execute("RELEASE SAVEPOINT sluice_rows");
    return;
  } catch (const Error& error) {
    if (error.fault() != Fault::bad_record) throw;
    session_->execute("ROLLBACK TO SAVEPOINT sluice_rows");
    session_->execute("RELEASE SAVEPOINT sluice_rows");
    if (last - first == 1) {
      const RejectClass of = database_.dialect().is_rule(error.code()) ? RejectClass::constraint : RejectClass::data;
      return rejects.push_back({batch.origin(first), "", error.what(), of, error.code()});
    }
  }
  const std::size_t row = refused_row(to, batch, first, last, std::span(rejects).subspan(known));
  rejects.resize(known);  // they are found again
  write_isolated(to, batch, first, row, rejects);
  write_isolated(to, batch, row, row + 1, rejects);
  write_isolated(to, batch, row + 1, last, rejects);
}

void SqlWriter::set_aside(std::span<const DeadLetter> letters) {
  watched([&] { open_epoch(); });
  for (const DeadLetter& letter : letters) {
    letter_bytes_ += letter.message.size() + (letter.value ? letter.value->size() : 0);
    letters_.push_back(letter);
  }
  if (letter_bytes_ < letter_bytes_max && letters_.size() < letters_max) return;
  watched([&] {
    finish_rows();
    send_letters();
  });
}

// The session is free for other statements then.
void SqlWriter::finish_rows() {
  if (streaming_ != nullptr) streaming_->finish();
  streaming_ = nullptr;
}

void SqlWriter::send_letters() {
  dead_letters_.put(*session_, letters_);
  letters_.clear();
  letter_bytes_ = 0;
}

// Up to the ledger, whose move is the last statement.
void SqlWriter::finish_epoch(const Cut& cut) {
  open_epoch();  // an epoch of holes only: the ledger moves alone
  finish_rows();
  send_letters();
  if (branching_) {
    branching_->epochs->put(*session_, branching_->name, branching_->name.text(branching_->prefix));
  }
  if (ledger_ == nullptr || ledger_->move(*session_, cut)) return;
  abort();
  throw ledger_->explain_miss(*session_, cut);
}

void SqlWriter::flush() {
  if (!open_) return;
  watched([&] {
    finish_rows();
    send_letters();
    check_rules_at_once();
  });
}

void SqlWriter::commit(const Cut& cut) {
  if (branching_) throw Error(Fault::fatal, "internal: a commit was asked for without a checkpoint");
  watched([&] {
    finish_epoch(cut);
    session_->commit();
  });
  open_ = false;
  fault_point("sink.after_commit");
}

std::string SqlWriter::precommit(const Cut& cut) {
  return watched([&] {
    finish_epoch(cut);
    std::string transaction = branching_->name.text(branching_->prefix);
    fault_point("sink.before_prepare");
    session_->prepare_transaction(transaction);
    open_ = false;
    fault_point("sink.after_prepare");
    return transaction;
  });
}

void SqlWriter::commit_prepared(const std::string& transaction) {
  watched([&] {
    fault_point("sink.before_commit_prepared");
    // Whoever settles meanwhile commits it, too.
    if (session_->commit_prepared(transaction) || branching_->epochs->holds(*session_, transaction)) return;
    throw Error(Fault::retryable, "the prepared transaction " + transaction + " in " + database_.name() +
                                      " is gone: somebody has rolled it back by hand. Its records come again");
  });
  fault_point("sink.after_commit");
}

std::set<std::string> SqlWriter::settle(const std::set<std::string>& decided, const std::vector<Split>& splits) {
  return watched([&] {
    ledger_->end_owners(*session_, owner_, splits);
    std::set<std::string> missing = decided;
    const auto settle_each = [&](const auto& finish) {
      for (const auto& found : session_->prepared_transactions()) {
        const auto name = TransactionName::parse(branching_->prefix, found.name);
        if (!name) continue;  // of another application, job or sink
        missing.erase(found.name);
        if (name->generation > branching_->name.generation) {
          throw Error(Fault::fenced,
                      "transaction " + found.name + " is prepared in " + database_.name() +
                          " by a newer process than this one, or the checkpoints are not those that this job used "
                          "before (\"checkpoint.directory\", \"checkpoint.store\"): stop the other process, or "
                          "name theirs. Where they are lost: `sluice recover --rollback` that transaction");
        }
        const auto what =
            settlement(*name, decided.contains(found.name), branching_->name.task, branching_->name.generation);
        if (what != Settlement::leave) finish(found.name, what == Settlement::commit);
      }
    };
    settle_each([&](const std::string& transaction, bool commit) {
      commit ? session_->commit_prepared(transaction) : session_->rollback_prepared(transaction);
      watch_.touch();
    });
    // Until the server has noticed the end of the session that prepared it, it may let nobody else near.
    settle_each([&](const std::string& transaction, bool) {
      throw Error(Fault::retryable, "the prepared transaction " + transaction + " in " + database_.name() +
                                        " is still held by the session that prepared it");
    });
    std::erase_if(missing, [&](const std::string& id) { return branching_->epochs->holds(*session_, id); });
    return missing;
  });
}

std::vector<StoredLetter> SqlWriter::letters(std::size_t count, const DeadLetter* after) {
  return dead_letters_.read(*session_, count, after);
}

void SqlWriter::commit_retried(std::span<const DeadLetter> written, std::span<const DeadLetter> refused) {
  open_epoch();
  finish_rows();
  dead_letters_.renew(*session_, refused);
  if (dead_letters_.remove(*session_, written) != written.size()) {
    abort();
    throw Error(Fault::retryable,
                "another process has removed some of the dead letters meanwhile; nothing was written");
  }
  session_->commit();
  open_ = false;
}

void SqlWriter::abort() noexcept {
  const CallWatch::Call call(watch_);
  streaming_ = nullptr;
  letters_.clear();
  letter_bytes_ = 0;
  loaders_.clear();
  if (open_) session_->rollback();
  open_ = false;
}

void SqlWriter::release(const Claims& claims) {
  if (ledger_ != nullptr) watched([&] { ledger_->release(*session_, claims); });
}

}  // namespace sluice::sql
