// The ledger: how far each split of a job has come in this database, moved in the same transaction as the rows.
// The statements are the same for every database; the model in docs/model/ledger.pml shows that their rules suffice.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/api/sink.h"
#include "core/model/error.h"
#include "sinks/sql/database.h"
#include "sinks/sql/session.h"
#include "sinks/sql/statement.h"

namespace sluice::sql {

struct LedgerEntry {
  Claim claim;
  std::optional<std::string> owner;  // nothing: released in order
  std::string topic_id;              // empty: not known
  std::string updated_at;
};

Known known_from(const LedgerEntry& entry);

// As an owner: not a process, but somebody who moved the positions.
inline constexpr std::string_view moved_by_hand = "moved-by-hand";

class Ledger {
 public:
  // `dialect` is borrowed.
  Ledger(const Dialect& dialect, std::string job, std::string sink);

  // What the ledger says of these splits (of all of them: pass nothing); the others are absent.
  std::map<Split, LedgerEntry> read(Session& session, const std::vector<Split>* splits = nullptr) const;

  // In a transaction of its own: makes rows for unknown splits, raises every generation, names the owner, and returns
  // what the ledger says then. The row locks make it wait for a commit of the old owner that is in flight; sessions of
  // an owner that did not release are ended first. Throws fenced when a split in `held` was taken over since, and
  // retryable when another one was since its generation was `seen` (0: it had no row).
  Claims take_over(Session& session, const std::string& owner, const Positions& starts, const Claims& held,
                   const std::map<Split, Generation>& seen, const TopicIds& topics) const;

  // Ends the sessions of other owners of these splits that did not release them.
  void end_owners(Session& session, const std::string& owner, const std::vector<Split>& splits) const;

  // In the open transaction: splits that the ledger does not know begin there, as somebody says. The others stay as
  // they are. Returns what it says of all of them then.
  std::map<Split, LedgerEntry> begin_at(Session& session, const Positions& starts, const TopicIds& topics) const;

  // In the open transaction: the positions are these from now on, whatever they were. Ends the sessions of the owners,
  // and raises the generations, so that a process that runs is fenced.
  void set(Session& session, const Positions& to) const;

  // Last statement of an epoch's transaction: every move by compare-and-set. False when one of them missed: the
  // transaction must be rolled back, and explain_miss() tells why.
  [[nodiscard]] bool move(Session& session, const Cut& cut) const;

  // In a transaction of its own: nobody needs to be asked about these splits any more.
  void release(Session& session, const Claims& claims) const;

  // After a missed compare-and-set, in a fresh transaction: who has moved the ledger, as the Error to throw.
  Error explain_miss(Session& session, const Cut& cut) const;

 private:
  Statement statement() const { return Statement(dialect_); }
  void add_where_job(Statement& sql) const;
  void add_split(Statement& sql, const Split& split) const;
  void add_one_of(Statement& sql, const std::vector<Split>& splits) const;
  void add_missing(Session& session, const Positions& starts, bool by_hand = false, const TopicIds& topics = {}) const;
  void claim_rows(Session& session, const std::string& owner, const std::vector<Split>& splits,
                  const TopicIds& topics) const;

  const Dialect& dialect_;
  std::string job_;
  std::string sink_;
};

}  // namespace sluice::sql
