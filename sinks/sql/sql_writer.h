// The exactly-once protocol against a relational database, written once for all of them: rows stream into one open
// transaction per epoch, the ledger moves by compare-and-set as its last statement, then COMMIT.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "core/api/log.h"
#include "core/api/two_phase.h"
#include "sinks/sql/call_watch.h"
#include "sinks/sql/database.h"
#include "sinks/sql/dead_letters.h"
#include "sinks/sql/ledger.h"
#include "sinks/sql/table.h"
#include "sinks/sql/two_phase.h"

namespace sluice::sql {

// How a writer's transactions are called when they are prepared. Borrows what it points to.
struct Branching {
  std::string prefix;
  TransactionName name;                           // of the last one
  std::atomic<std::uint64_t>* numbers = nullptr;  // the process's own count
  const EpochRows* epochs = nullptr;
};

class SqlWriter final : public TwoPhaseWriter {
 public:
  // All of it is borrowed and outlives the writer; `plan_of` yields the plan of a topic that was bound.
  // `ledger` nullptr: the positions are not kept here.
  SqlWriter(Database& database, const Ledger* ledger, const DeadLetters& letters,
            std::function<const LoadPlan&(const std::string& topic)> plan_of, const CallLimits& limits, const Log& log,
            std::optional<Branching> branching = std::nullopt);
  ~SqlWriter() override;

  std::map<Split, Known> known(const std::vector<Split>& splits) override;
  Claims take_over(const Positions& starts, const Claims& held, const TopicIds& topics) override;
  void write(const std::string& topic, const Batch& batch, WriteMode mode, std::vector<Reject>& rejects) override;
  void set_aside(std::span<const DeadLetter> letters) override;
  void flush() override;
  void commit(const Cut& cut) override;
  void abort() noexcept override;
  void release(const Claims& claims) override;

  std::set<std::string> settle(const std::set<std::string>& decided, const std::vector<Split>& splits) override;
  std::string precommit(const Cut& cut) override;
  void commit_prepared(const std::string& transaction) override;

  // For the retry of dead letters, which moves no ledger. Outside of a transaction.
  std::vector<StoredLetter> letters(std::size_t count, const DeadLetter* after);
  // Ends the transaction. The rows that were written stand for these letters, which are removed with them; the refused
  // ones get their new reasons. Throws retryable, with nothing written, when somebody else has removed a written one.
  void commit_retried(std::span<const DeadLetter> written, std::span<const DeadLetter> refused);

 private:
  template <class Work>
  auto watched(Work work);
  void open_epoch();
  RowLoader& loader(const std::string& topic);
  void write_isolated(RowLoader& to, const Batch& batch, std::size_t first, std::size_t last,
                      std::vector<Reject>& rejects);
  void check_rules_at_once();
  void finish_rows();
  void finish_epoch(const Cut& cut);
  void send_letters();

  Database& database_;
  const Ledger* ledger_;
  const DeadLetters& dead_letters_;
  std::function<const LoadPlan&(const std::string&)> plan_of_;
  std::unique_ptr<Session> session_;
  CallWatch watch_;                   // behind the session, which it interrupts
  std::map<Split, Generation> seen_;  // what known() said last; 0: nothing
  std::string owner_;
  std::optional<Branching> branching_;                         // nothing: one phase
  std::map<std::string, std::unique_ptr<RowLoader>> loaders_;  // by topic; they borrow the session
  RowLoader* streaming_ = nullptr;                             // the one whose stream is open: a session has but one
  std::vector<DeadLetter> letters_;                            // not sent yet
  std::size_t letter_bytes_ = 0;
  bool open_ = false;
  bool rules_at_once_ = false;  // in the open transaction
};

}  // namespace sluice::sql
