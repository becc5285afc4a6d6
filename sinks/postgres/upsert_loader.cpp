#include "sinks/postgres/upsert_loader.h"

#include <algorithm>

#include "core/model/error.h"
#include "sinks/postgres/array_text.h"
#include "sinks/postgres/copy_stream.h"
#include "sinks/postgres/dialect.h"
#include "sinks/sql/tab_lines.h"

namespace sluice::postgres {

namespace {

constexpr std::size_t rows_per_block = 10'000;
constexpr std::size_t bytes_per_block = std::size_t{4} << 20;
// Below it the round trips cost more than they save.
constexpr std::size_t look_up_rows_min = 500;
// Writers mostly insert for a long time or mostly update for a long time; which of the two is found out now and then.
constexpr int blocks_between_look_ups = 20;

std::string array_of(const sql::RowBuffer& block, std::size_t column, const std::vector<std::size_t>& rows) {
  std::string array;
  array.reserve(2 + 16 * rows.size());
  array = '{';
  for (const std::size_t row : rows) {
    if (array.size() > 1) array += ',';
    append_array_element(block.cell(row, column), array);
  }
  return array += '}';
}

}  // namespace

UpsertLoader::UpsertLoader(PostgresSession& session, const sql::Dialect& dialect, const sql::LoadPlan& plan)
    : session_(session),
      plan_(plan),
      table_(quoted_table(dialect, plan)),
      columns_(quoted_columns(dialect, plan)),
      upsert_(upsert_from_arrays(dialect, plan)),
      look_up_(known_keys_in_arrays(dialect, plan)),
      erase_(erase_keys_in_arrays(dialect, plan)),
      blocks_{sql::RowBuffer(plan, postgres_rules), sql::RowBuffer(plan, postgres_rules)} {}

UpsertLoader::~UpsertLoader() = default;

void UpsertLoader::add(const Batch& batch, std::size_t first, std::size_t last, std::vector<Reject>& rejects) {
  for (std::size_t row = first; row < last; ++row) {
    if (!blocks_[filling_].takes(batch.kind(row))) send();
    sql::RowBuffer& block = blocks_[filling_];
    block.add(batch, row, rejects);
    if (block.rows() >= rows_per_block || block.bytes() >= bytes_per_block) send();
  }
}

void UpsertLoader::finish() {
  try {
    if (!blocks_[filling_].empty()) send();
    background_.wait();
  } catch (...) {
    blocks_[filling_].clear();
    throw;
  }
}

void UpsertLoader::send() {
  sql::RowBuffer& full = blocks_[filling_];
  try {
    background_.run([this, &full] { translated([&] { merge(full); }); });
  } catch (...) {  // what came before failed, so that nothing behind it counts
    full.clear();
    throw;
  }
  filling_ = 1 - filling_;
  blocks_[filling_].clear();
}

void UpsertLoader::merge(const sql::RowBuffer& block) {
  Rows rows = block.live_rows();
  if (block.erases()) return erase(block, rows);
  if (rows.size() < look_up_rows_min || blocks_until_look_up_ > 0 || !look_up_allowed()) {
    if (blocks_until_look_up_ > 0) --blocks_until_look_up_;
    return upsert(block, rows);
  }
  const std::size_t all = rows.size();
  const Rows known = take_known(block, rows);
  if (known.size() > all / 2) blocks_until_look_up_ = blocks_between_look_ups;
  if (!rows.empty() && !copied(block, rows)) return upsert(block, block.live_rows());
  if (!known.empty()) upsert(block, known);
}

// Whether keys can be looked up through an index, and rows can go in by COPY.
bool UpsertLoader::look_up_allowed() {
  if (look_up_allowed_) return *look_up_allowed_;
  // Other types' operators may not be in the search path, or be another one than the index's.
  const bool plain_key = std::none_of(plan_.key.begin(), plan_.key.end(), [&](const std::size_t column) {
    return plan_.columns[column].family == sql::Family::other;
  });
  // COPY does not go past row-level security; an index of another collation than its column's answers no "=".
  const auto answer = execute(session_.transaction(),
                              "SELECT NOT row_security_active(c.oid) AND NOT EXISTS (SELECT 1 FROM pg_index i, "
                              "unnest(i.indkey::int2[], i.indcollation::oid[]) AS k(attnum, coll) "
                              "JOIN pg_attribute a ON a.attnum = k.attnum WHERE i.indrelid = c.oid AND i.indisunique "
                              "AND a.attrelid = c.oid AND a.attcollation <> k.coll) "
                              "FROM pg_class c WHERE c.oid = $1::regclass",
                              std::array<std::string, 1>{table_});
  look_up_allowed_ = plain_key && !answer.empty() && answer[0][0].as<bool>();
  return *look_up_allowed_;
}

std::vector<std::string> UpsertLoader::keys_of(const sql::RowBuffer& block, const Rows& rows) const {
  std::vector<std::string> keys;
  for (const std::size_t column : plan_.key) keys.push_back(array_of(block, column, rows));
  return keys;
}

void UpsertLoader::erase(const sql::RowBuffer& block, const Rows& rows) {
  execute(session_.transaction(), erase_, keys_of(block, rows));
}

// The rows whose keys are in the table; `rows` keeps the others.
UpsertLoader::Rows UpsertLoader::take_known(const sql::RowBuffer& block, Rows& rows) {
  const auto places = execute(session_.transaction(), look_up_, keys_of(block, rows));  // in rows, ascending
  Rows known;
  Rows fresh;
  std::size_t at = 0;
  for (const auto& place : places) {
    const auto next = place[0].as<std::size_t>();
    fresh.insert(fresh.end(), rows.begin() + static_cast<std::ptrdiff_t>(at),
                 rows.begin() + static_cast<std::ptrdiff_t>(next));
    known.push_back(rows[next]);
    at = next + 1;
  }
  fresh.insert(fresh.end(), rows.begin() + static_cast<std::ptrdiff_t>(at), rows.end());
  rows = std::move(fresh);
  return known;
}

// False: a key was there all the same, and nothing was written. Another transaction may have inserted it meanwhile; or
// a trigger, the scale of a numeric or a second unique index makes keys equal that are not written alike. Then this
// loader does not look up again.
bool UpsertLoader::copied(const sql::RowBuffer& block, const Rows& rows) {
  pqxx::work& transaction = session_.transaction();
  transaction.exec("SAVEPOINT sluice_copy");
  try {
    copy(block, rows);
    transaction.exec("RELEASE SAVEPOINT sluice_copy");
    return true;
  } catch (const pqxx::unique_violation&) {
    transaction.exec("ROLLBACK TO SAVEPOINT sluice_copy");
    look_up_allowed_ = false;
    return false;
  }
}

void UpsertLoader::copy(const sql::RowBuffer& block, const Rows& rows) {
  CopyStream stream(session_.transaction(), table_, columns_);
  sql::TabLines lines(2 * sql::tab_lines_per_send, copy_hex);
  for (const std::size_t row : rows) {
    lines.begin_line();
    for (std::size_t column = 0; column < plan_.columns.size(); ++column) lines.append_field(block.cell(row, column));
    if (lines.size() < sql::tab_lines_per_send) continue;
    stream.send(lines.text());
    lines.clear();
  }
  if (!lines.empty()) stream.send(lines.text());
  stream.complete();
}

void UpsertLoader::upsert(const sql::RowBuffer& block, const Rows& rows) {
  std::vector<std::string> arrays;
  for (std::size_t column = 0; column < plan_.columns.size(); ++column) {
    arrays.push_back(array_of(block, column, rows));
  }
  execute(session_.transaction(), upsert_, arrays);
}

}  // namespace sluice::postgres
