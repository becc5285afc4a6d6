#include "core/testing/sql_conformance.h"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <utility>

namespace sluice::testing {

sql::SqlSinkSettings sql_settings(const TestJob& job) {
  sql::SqlSinkSettings settings;
  settings.job = job.job;
  settings.sink = job.sink;
  settings.table_name_format = job.table.value_or("${topic}");
  settings.mapping.insert_mode = job.upsert ? sql::InsertMode::upsert : sql::InsertMode::insert;
  settings.mapping.pk_mode = job.key.empty() ? sql::PkMode::none : sql::PkMode::record_value;
  settings.mapping.pk_fields = job.key;
  return settings;
}

sql::Session& SqlUnderTest::outside() {
  if (!own_) own_ = database();
  if (!session_) session_ = own_->connect();
  return *session_;
}

void SqlUnderTest::create_table(const TestTable& table) {
  sql::Session& session = outside();
  const sql::Dialect& dialect = own_->dialect();
  std::string columns;
  for (const TestColumn& column : table.columns) {
    columns += (columns.empty() ? "" : ", ") + dialect.quote(column.name) + " " + dialect.type_for(column.kind, false);
  }
  std::string key;
  for (const auto& column : table.key) key += (key.empty() ? "" : ", ") + dialect.quote(column);
  if (!key.empty()) columns += ", PRIMARY KEY (" + key + ")";
  if (table.refused_note) columns += ", CONSTRAINT note_refused CHECK (note <> '" + *table.refused_note + "')";
  session.execute("DROP TABLE IF EXISTS " + dialect.quote(table.name));
  // A new test, not an accident that the sink should notice.
  if (own_->describe(session, "sluice_tables")) session.execute("DELETE FROM sluice_tables");
  session.execute("CREATE TABLE " + dialect.quote(table.name) + " (" + columns + ")");
}

std::unique_ptr<Sink> SqlUnderTest::open(const TestJob& job) {
  auto sink = std::make_unique<sql::SqlSink>(sql_settings(job), database(),
                                             [](LogLevel, std::string_view, const LogFields&) {});
  sink->prepare(true);
  return sink;
}

void SqlUnderTest::clear() {
  for (const std::string table : {"sluice_ledger", "sluice_dead_letters", "sluice_tables", "sluice_epochs",
                                  "sluice_checkpoints", "sluice_migrations"}) {
    outside().execute("DROP TABLE IF EXISTS " + table);
  }
}

void SqlUnderTest::empty(const std::vector<std::string>& tables) {
  sql::Session& session = outside();
  std::vector<std::string> all{"sluice_ledger", "sluice_dead_letters", "sluice_tables", "sluice_epochs",
                               "sluice_checkpoints"};
  all.insert(all.end(), tables.begin(), tables.end());
  for (const std::string& table : all) {
    if (own_->describe(session, table)) session.execute("DELETE FROM " + own_->dialect().quote(table));
  }
}

std::vector<std::string> SqlUnderTest::prepared(const std::vector<std::string>& sinks) {
  std::vector<std::string> names;
  for (const auto& found : outside().prepared_transactions()) {
    for (const auto& sink : sinks) {
      if (found.name.starts_with(own_->transaction_prefix(TestJob{}.job, sink))) names.push_back(found.name);
    }
  }
  return names;
}

std::vector<DeadLetter> SqlUnderTest::letters() {
  sql::Session& session = outside();
  std::vector<DeadLetter> letters;
  for (auto& stored : sql::DeadLetters(own_->dialect(), TestJob{}.job, TestJob{}.sink).read(session, 1'000'000)) {
    letters.push_back(std::move(stored.letter));
  }
  return letters;
}

void SqlUnderTest::end_session(const std::string& id) {
  while (outside().end_session(id)) std::this_thread::yield();
}

void SqlUnderTest::disown_ledger() {
  outside().execute("UPDATE sluice_ledger SET owner = replace(owner, ' run=', ' run=another-')");
}

std::vector<TestRow> SqlUnderTest::rows(const TestTable& table) {
  sql::Session& session = outside();
  const sql::Dialect& dialect = own_->dialect();
  std::string cells;
  for (const TestColumn& column : table.columns) {
    cells += (cells.empty() ? "" : ", ") + cell(column.kind, dialect.quote(column.name));
  }
  std::vector<TestRow> rows = session.query("SELECT " + cells + " FROM " + dialect.quote(table.name));
  for (TestRow& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (table.columns[i].kind != Kind::real || !row[i]) continue;
      std::array<char, 40> digits{};
      std::snprintf(digits.data(), digits.size(), "%.17g", std::strtod(row[i]->c_str(), nullptr));
      row[i] = digits.data();
    }
  }
  return rows;
}

}  // namespace sluice::testing
