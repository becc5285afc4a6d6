#include "sinks/postgres/upsert_loader.h"

#include <limits>

#include "core/model/error.h"
#include "sinks/postgres/copy_stream.h"
#include "sinks/postgres/copy_text.h"
#include "sinks/postgres/dialect.h"

namespace sluice::postgres {

namespace {

constexpr std::size_t rows_per_block = 10'000;
constexpr std::size_t bytes_per_block = std::size_t{4} << 20;
// More than the task writes at once when it looks for a bad row.
constexpr std::size_t look_up_rows_min = 2'000;
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
      blocks_{sql::RowBuffer(plan, postgres_rules), sql::RowBuffer(plan, postgres_rules)} {}

UpsertLoader::~UpsertLoader() = default;

void UpsertLoader::add(const Batch& batch, std::size_t first, std::size_t last) {
  for (std::size_t row = first; row < last; ++row) {
    sql::RowBuffer& block = blocks_[filling_];
    block.add(batch, row);
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
  background_.run([this, &full = blocks_[filling_]] { translated([&] { merge(full); }); });
  filling_ = 1 - filling_;
  blocks_[filling_].clear();
}

void UpsertLoader::merge(const sql::RowBuffer& block) {
  Rows rows = block.live_rows();
  if (rows.size() < look_up_rows_min || blocks_until_look_up_ > 0 || !copy_allowed()) {
    if (blocks_until_look_up_ > 0) --blocks_until_look_up_;
    return upsert(block, rows);
  }
  const std::size_t all = rows.size();
  const Rows known = take_known(block, rows);
  if (known.size() > all / 2) blocks_until_look_up_ = blocks_between_look_ups;
  if (!rows.empty()) copy(block, rows);
  if (!known.empty()) upsert(block, known);
}

// COPY goes neither into views nor past row-level security.
bool UpsertLoader::copy_allowed() {
  if (!asked_for_copy_) {
    asked_for_copy_ = true;
    const auto answer = execute(session_.transaction(),
                                "SELECT relkind IN ('r', 'p') AND NOT row_security_active(oid) FROM pg_class "
                                "WHERE oid = $1::regclass",
                                std::array<std::string, 1>{table_});
    if (answer.empty() || !answer[0][0].as<bool>()) blocks_until_look_up_ = std::numeric_limits<int>::max();
  }
  return blocks_until_look_up_ == 0;
}

// The rows whose keys are in the table; `rows` keeps the others.
UpsertLoader::Rows UpsertLoader::take_known(const sql::RowBuffer& block, Rows& rows) {
  std::vector<std::string> keys;
  for (const std::size_t column : plan_.key) keys.push_back(array_of(block, column, rows));
  const auto places = execute(session_.transaction(), look_up_, keys);  // in rows, ascending
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

void UpsertLoader::copy(const sql::RowBuffer& block, const Rows& rows) {
  CopyStream stream(session_.transaction(), table_, columns_);
  CopyLines lines(2 * copy_bytes_per_send);
  for (const std::size_t row : rows) {
    if (!lines.empty()) lines.delimit('\n');
    for (std::size_t column = 0; column < plan_.columns.size(); ++column) {
      if (column > 0) lines.delimit('\t');
      lines.append_field(block.cell(row, column));
    }
    if (lines.size() < copy_bytes_per_send) continue;
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
