#include "sinks/sql/sql_sink.h"

#include <set>
#include <utility>

#include "core/model/error.h"
#include "sinks/sql/migrator.h"
#include "sinks/sql/sql_writer.h"

namespace sluice::sql {

SqlSink::SqlSink(SqlSinkSettings settings, std::unique_ptr<Database> database, Log log)
    : settings_(std::move(settings)),
      database_(std::move(database)),
      ledger_(database_->dialect(), settings_.job, settings_.sink),
      letters_(database_->dialect(), settings_.job, settings_.sink),
      known_tables_(database_->dialect(), settings_.job, settings_.sink),
      epochs_(database_->dialect(), settings_.job, settings_.sink),
      log_(std::move(log)) {}

SqlSink::~SqlSink() = default;

// Runs `work` on the control session under the lock; a session on which anything failed is not used again.
template <class Work>
auto SqlSink::with_control(Work work) {
  const std::scoped_lock lock(mutex_);
  try {
    if (!control_) control_ = database_->connect();
    return work(*control_);
  } catch (...) {
    control_.reset();
    throw;
  }
}

// The same without making a database that is not there.
template <class Work>
auto SqlSink::only_asking(Work work) {
  if (const auto session = database_->empty_instead()) return work(*session);
  return with_control(std::move(work));
}

void SqlSink::prepare(bool migrate) {
  if (settings_.tasks > database_->writers_max()) {
    throw Error(Fault::fatal, database_->name() + " has one writer at a time: set \"parallelism\" to 1");
  }
  with_control([&](Session& session) {
    Migrator migrator(*database_, session);
    if (!has_recovery_tables()) {
      // nothing of ours in the database
    } else if (migrate) {
      for (const auto& name : migrator.apply()) log_(LogLevel::info, "created recovery tables", {{"migration", name}});
    } else if (const auto missing = migrator.missing(); !missing.empty()) {
      throw Error(Fault::fatal, "the recovery tables in " + database_->name() + " are not up to date (" +
                                    missing.front() + " is missing): run `sluice migrate`");
    }
    for (const auto& topic : settings_.topics) {
      if (bound_.contains(topic)) continue;
      const bool needs_sample = settings_.mapping.auto_create && settings_.mapping.columns.empty();
      if (needs_sample && !database_->describe(session, table_for(topic))) {
        face_another_table(session, topic, std::nullopt);
        continue;  // created from the first records
      }
      bound_.emplace(topic, bind_table(session, topic, {}));
    }
  });
}

std::string SqlSink::table_for(const std::string& topic) const {
  static const std::string variable = "${topic}";
  std::string name = settings_.table_name_format;
  for (auto at = name.find(variable); at != std::string::npos; at = name.find(variable, at + topic.size())) {
    name.replace(at, variable.size(), topic);
  }
  return name;
}

RowShape SqlSink::bind(const std::string& topic, const std::function<std::vector<Field>()>& infer) {
  return with_control([&](Session& session) {
    auto found = bound_.find(topic);
    if (found == bound_.end()) found = bound_.emplace(topic, bind_table(session, topic, infer)).first;
    return found->second.shape;
  });
}

Binding SqlSink::bind_table(Session& session, const std::string& topic,
                            const std::function<std::vector<Field>()>& infer) {
  const std::string name = table_for(topic);
  auto table = database_->describe(session, name);
  face_another_table(session, topic, table);
  if (!table && settings_.mapping.auto_create) {
    const bool sampled = settings_.mapping.columns.empty();
    session.execute(create_statement(database_->dialect(), database_->name_to_create(session, name), settings_.mapping,
                                     sampled ? infer() : std::vector<Field>{}));
    log_(LogLevel::info, "created table", {{"table", name}, {"topic", topic}});
    table = database_->describe(session, name);
  }
  if (!table) {
    throw Error(Fault::fatal,
                "table " + name + " (for topic " + topic + ") does not exist in " + database_->name() +
                    ". Create it, or set \"auto.create\": true. Names are looked up exactly as written, upper "
                    "and lower case included");
  }
  Binding binding = bind_columns(*table, settings_.mapping);
  if (settings_.keeps_ledger && known_tables_.find(session, topic) != table->id)
    known_tables_.remember(session, topic, table->id);
  return binding;
}

// A table that is gone, or is empty and not the one that this topic went to before: the ledger would skip what the old
// one held. Nothing: it is neither.
std::optional<std::string> SqlSink::lost_table(Session& session, const std::string& topic,
                                               const std::optional<Table>& table) {
  if (!settings_.keeps_ledger) return std::nullopt;
  const auto before = known_tables_.find(session, topic);
  if (!before || (table && (table->id == *before || has_rows(session, *table)))) return std::nullopt;
  std::string positions;
  for (const auto& [split, entry] : ledger_.read(session)) {
    if (split.topic != topic || number(entry.claim.epoch) == 0) continue;
    positions += (positions.empty() ? "" : ", ") + to_string(split) + " up to " + std::to_string(entry.claim.position);
  }
  if (positions.empty()) return std::nullopt;
  return "table " + table_for(topic) +
         (table ? " is empty and was created anew since this job wrote to it" : " is gone") +
         ", but the ledger remembers what it has written there: " + positions;
}

namespace {

constexpr const char* after_lost_table =
    "Restore the table; or load everything again with `sluice offsets --reset earliest`; or go on from there with "
    "\"on.lost.records\": \"skip\" in the source";

}  // namespace

void SqlSink::face_another_table(Session& session, const std::string& topic, const std::optional<Table>& table) {
  const auto text = lost_table(session, topic, table);
  if (!text) return;
  if (settings_.accept_lost_records) {
    return log_(LogLevel::warning, *text + "; going on from there, as on.lost.records says", {{"topic", topic}});
  }
  throw Error(Fault::fatal, *text + ". Nothing was written. " + after_lost_table);
}

bool SqlSink::has_rows(Session& session, const Table& table) {
  const Dialect& dialect = database_->dialect();
  const std::string name = (table.schema.empty() ? "" : dialect.quote(table.schema) + ".") + dialect.quote(table.name);
  return !session.query("SELECT 1 FROM " + name + " LIMIT 1").empty();
}

void SqlSink::set_positions(const Positions& to) {
  with_control([&](Session& session) {
    for (const auto& [split, position] : to) {
      const auto letters = letters_.count_from(session, split, position);
      if (letters == 0) continue;
      throw Error(Fault::fatal, std::to_string(letters) + " dead letters are of records at or behind " +
                                    to_string(split, position) +
                                    ", which would come again and could be there twice. "
                                    "Nothing was moved. `sluice dead-letters --retry` or `--discard` them first");
    }
    session.begin();
    ledger_.set(session, to);
    // A topic that moves as a whole may go to a new table from now on.
    std::set<std::string> staying;
    for (const auto& [split, entry] : ledger_.read(session)) {
      if (!to.contains(split)) staying.insert(split.topic);
    }
    for (const auto& [split, position] : to) {
      if (!staying.contains(split.topic)) known_tables_.forget(session, split.topic);
    }
    session.commit();
  });
}

void SqlSink::begin_at(const Positions& starts, const TopicIds& topics) {
  if (starts.empty()) return;
  with_control([&](Session& session) {
    session.begin();
    for (const auto& [split, entry] : ledger_.begin_at(session, starts, topics)) {
      const std::int64_t start = starts.at(split);
      if (entry.claim.position == start) continue;
      throw Error(Fault::fatal, "the ledger of sink " + settings_.sink + " in " + database_->name() +
                                    " knows this job already: " + to_string(split) + " is at " +
                                    std::to_string(entry.claim.position) + ", and the savepoint says " +
                                    std::to_string(start) +
                                    ". Starting there would write records twice, or never. Nothing was moved. "
                                    "`sluice offsets --set` moves a ledger; run without --from goes on where it is");
    }
    session.commit();
  });
}

std::unique_ptr<SinkWriter> SqlSink::open_writer(std::size_t) {
  return make_writer();
}

void SqlSink::require_two_phase() {
  with_control([&](Session& session) {
    if (const auto obstacle = database_->two_phase_obstacle(session); !obstacle.empty()) {
      throw Error(Fault::fatal, obstacle);
    }
  });
}

std::unique_ptr<TwoPhaseWriter> SqlSink::open_two_phase_writer(std::size_t task, Generation generation) {
  return make_writer(Branching{prefix(), TransactionName{task, generation, 0}, &transactions_, &epochs_});
}

std::vector<SqlSink::Prepared> SqlSink::prepared() {
  return with_control([&](Session& session) {
    std::vector<Prepared> all;
    for (auto& found : session.prepared_transactions()) {
      if (const auto name = TransactionName::parse(prefix(), found.name)) all.push_back({std::move(found), *name});
    }
    return all;
  });
}

bool SqlSink::finish_prepared(const std::string& transaction, bool commit) {
  if (!TransactionName::parse(prefix(), transaction)) {
    throw Error(Fault::fatal, transaction + " is no transaction of this job: theirs begin with " + prefix());
  }
  return with_control([&](Session& session) {
    return commit ? session.commit_prepared(transaction) : session.rollback_prepared(transaction);
  });
}

bool SqlSink::was_committed(const std::string& transaction) {
  return with_control([&](Session& session) { return epochs_.holds(session, transaction); });
}

std::unique_ptr<SqlWriter> SqlSink::make_writer(std::optional<Branching> branching) {
  const auto plan_of = [this](const std::string& topic) -> const LoadPlan& {
    const std::scoped_lock lock(mutex_);
    return bound_.at(topic).plan;
  };
  return std::make_unique<SqlWriter>(*database_, settings_.keeps_ledger ? &ledger_ : nullptr, letters_, plan_of,
                                     settings_.calls, log_, std::move(branching));
}

Positions SqlSink::positions() {
  Positions positions;
  for (const auto& [split, entry] : ledger()) positions.emplace(split, entry.claim.position);
  return positions;
}

std::map<Split, LedgerEntry> SqlSink::ledger() {
  if (!settings_.keeps_ledger) return {};
  return with_control([&](Session& session) { return ledger_.read(session); });
}

std::vector<StoredLetter> SqlSink::letters(std::size_t count, const DeadLetter* after) {
  if (!has_recovery_tables()) return {};
  return with_control([&](Session& session) { return letters_.read(session, count, after); });
}

std::uint64_t SqlSink::letter_count() {
  if (!has_recovery_tables()) return 0;
  return with_control([&](Session& session) { return letters_.count(session); });
}

LetterRetry::Result SqlSink::retry_letters(Format& format) {
  if (!has_recovery_tables()) return {};
  const auto writer = make_writer();
  return LetterRetry(*this, *writer, format).run();
}

std::uint64_t SqlSink::discard_letters() {
  if (!has_recovery_tables()) return 0;
  return with_control([&](Session& session) { return letters_.remove_all(session); });
}

std::vector<std::string> SqlSink::migrate() {
  if (!has_recovery_tables()) return {};
  return with_control([&](Session& session) { return Migrator(*database_, session).apply(); });
}

std::vector<std::string> SqlSink::missing_migrations() {
  if (!has_recovery_tables()) return {};
  return only_asking([&](Session& session) { return Migrator(*database_, session).missing(); });
}

std::string SqlSink::migration_script() {
  if (!has_recovery_tables()) return {};
  return only_asking([&](Session& session) { return Migrator(*database_, session).script(); });
}

Findings SqlSink::inspect() {
  return only_asking([&](Session& session) { return database_->inspect(session, subject()); });
}

Findings SqlSink::inspect_table(const std::string& topic) {
  return only_asking([&](Session& session) -> Findings {
    const auto table = database_->describe(session, table_for(topic));
    if (!table) return {};
    InspectionSubject about = subject();
    about.table = &*table;
    return database_->inspect(session, about);
  });
}

Findings SqlSink::inspect_memory(const std::string& topic) {
  return with_control([&](Session& session) -> Findings {
    const auto text = lost_table(session, topic, database_->describe(session, table_for(topic)));
    if (!text) return {};
    return {{settings_.accept_lost_records ? Severity::warning : Severity::problem, *text, after_lost_table}};
  });
}

InspectionSubject SqlSink::subject() const {
  InspectionSubject subject;
  subject.mode = settings_.mapping.insert_mode;
  subject.erases = settings_.mapping.erases;
  subject.recovery_tables = has_recovery_tables();
  subject.tasks = settings_.tasks;
  return subject;
}

std::optional<Binding> SqlSink::existing_binding(const std::string& topic) {
  return only_asking([&](Session& session) -> std::optional<Binding> {
    const auto table = database_->describe(session, table_for(topic));
    if (!table) return std::nullopt;
    return bind_columns(*table, settings_.mapping);
  });
}

}  // namespace sluice::sql
