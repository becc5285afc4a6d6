// A relational database as a sink: tables found or created, topics bound to them, writers that share the ledger's
// rules.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "core/api/decoder.h"
#include "core/api/log.h"
#include "core/api/two_phase.h"
#include "sinks/sql/binding.h"
#include "sinks/sql/call_watch.h"
#include "sinks/sql/database.h"
#include "sinks/sql/dead_letters.h"
#include "sinks/sql/known_tables.h"
#include "sinks/sql/ledger.h"
#include "sinks/sql/letter_retry.h"
#include "sinks/sql/sql_writer.h"
#include "sinks/sql/two_phase.h"

namespace sluice::sql {

struct SqlSinkSettings {
  std::string job;
  std::string sink;
  std::string table_name_format;    // ${topic} stands for the record's topic
  std::vector<std::string> topics;  // those known beforehand are bound at the start, so that mistakes show at once
  std::size_t tasks = 1;
  bool keeps_ledger = true;   // false: the positions are the source's to keep
  bool keeps_letters = true;  // without both there are no recovery tables
  MappingSettings mapping;
  CallLimits calls;                  // of a writer
  bool accept_lost_records = false;  // go on where a table is not the one that was written to
};

class SqlSink final : public TwoPhaseSink {
 public:
  SqlSink(SqlSinkSettings settings, std::unique_ptr<Database> database, Log log);
  ~SqlSink() override;

  void prepare(bool migrate) override;
  RowShape bind(const std::string& topic, const std::function<std::vector<Field>()>& infer) override;
  std::unique_ptr<SinkWriter> open_writer(std::size_t task) override;
  Positions positions() override;
  void require_two_phase() override;
  std::unique_ptr<TwoPhaseWriter> open_two_phase_writer(std::size_t task, Generation generation) override;

  // For `status`: everything the ledger says of the job.
  std::map<Split, LedgerEntry> ledger();
  // For `offsets`: the ledger says this from now on, and a process that runs is fenced. Letters of records that will be
  // read again are removed.
  void set_positions(const Positions& to);
  // For a savepoint: splits that the ledger does not know begin there. Throws fatal, and nothing was written, where it
  // knows one at another position.
  void begin_at(const Positions& starts, const TopicIds& topics);
  // For `migrate`: names of the migrations that were applied; of those that would be, and their text.
  std::vector<std::string> migrate();
  std::vector<std::string> missing_migrations();
  std::string migration_script();
  // For `recover`: what this job has left prepared, and whether it was committed all the same; and the ends of it.
  // False: there is no such transaction any more. A name of another job or application throws fatal.
  struct Prepared {
    PreparedTransaction transaction;
    TransactionName name;
  };
  std::vector<Prepared> prepared();
  bool finish_prepared(const std::string& transaction, bool commit);
  bool was_committed(const std::string& transaction);
  // For `dead-letters`: the first ones behind `after`, in the order of their records; how many there are in all.
  std::vector<StoredLetter> letters(std::size_t count, const DeadLetter* after = nullptr);
  std::uint64_t letter_count();
  // Those that can be written now are, and are removed with that.
  LetterRetry::Result retry_letters(Format& format);
  // Removes them all, and returns how many that were.
  std::uint64_t discard_letters();
  // For `check`: what a topic is bound to; nothing when the table does not exist yet. And the traps of the server, or
  // of that topic's table.
  std::optional<Binding> existing_binding(const std::string& topic);
  Findings inspect();
  Findings inspect_table(const std::string& topic);
  // Whether the table still is the one that the recovery tables, which must be there, remember.
  Findings inspect_memory(const std::string& topic);
  Database& database() { return *database_; }
  std::string table_for(const std::string& topic) const;

 private:
  template <class Work>
  auto with_control(Work work);
  template <class Work>
  auto only_asking(Work work);
  std::optional<std::string> lost_table(Session& session, const std::string& topic, const std::optional<Table>& table);
  void face_another_table(Session& session, const std::string& topic, const std::optional<Table>& table);
  bool has_rows(Session& session, const Table& table);
  InspectionSubject subject() const;
  bool has_recovery_tables() const { return settings_.keeps_ledger || settings_.keeps_letters; }
  std::unique_ptr<SqlWriter> make_writer(std::optional<Branching> branching = std::nullopt);
  std::string prefix() const { return database_->transaction_prefix(settings_.job, settings_.sink); }
  Binding bind_table(Session& session, const std::string& topic, const std::function<std::vector<Field>()>& infer);

  SqlSinkSettings settings_;
  std::unique_ptr<Database> database_;
  Ledger ledger_;
  DeadLetters letters_;
  KnownTables known_tables_;
  EpochRows epochs_;
  std::atomic<std::uint64_t> transactions_{0};  // prepared ones that were begun
  Log log_;

  std::mutex mutex_;                      // guards what follows
  std::unique_ptr<Session> control_;      // for questions outside epochs
  std::map<std::string, Binding> bound_;  // by topic; entries stay where they are
};

}  // namespace sluice::sql
