#include "sinks/postgres/loader.h"

#include <utility>

#include "core/model/error.h"
#include "sinks/postgres/copy_text.h"
#include "sinks/postgres/dialect.h"

namespace sluice::postgres {

namespace {

constexpr std::size_t copy_bytes_per_send = std::size_t{32} * 1024;
constexpr std::size_t array_rows_per_statement = 10'000;
constexpr std::size_t array_bytes_per_statement = std::size_t{4} << 20;

// jsonb cannot hold the escape \u0000, json can; both are refused alike, since a later ALTER would trip over it.
constexpr sql::CellRules postgres_rules{false, false};

}  // namespace

CopyLoader::CopyLoader(PostgresSession& session, const sql::Dialect& dialect, const sql::LoadPlan& plan)
    : session_(session), plan_(plan), table_(quoted_table(dialect, plan)), columns_(quoted_columns(dialect, plan)) {
  lines_.reserve(2 * copy_bytes_per_send);
}

CopyLoader::~CopyLoader() = default;

void CopyLoader::add(const Batch& batch, std::size_t first, std::size_t last) {
  if (!stream_) {
    translated([&] { stream_ = std::make_unique<CopyStream>(session_.transaction(), table_, columns_); });
  }
  for (std::size_t row = first; row < last; ++row) {
    encode(batch, row);
    if (lines_.size() >= copy_bytes_per_send) send();
  }
}

void CopyLoader::encode(const Batch& batch, std::size_t row) {
  if (!lines_.empty()) lines_ += '\n';
  const auto values = batch.row(row);
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i > 0) lines_ += '\t';
    const sql::CellText cell = sql::cell_text(values[i], plan_.columns[i], cell_, postgres_rules);
    if (cell.form == sql::CellForm::refused) throw BadRecord(batch.origin(row), plan_.columns[i].name, cell.reason);
    append_copy_field(cell, lines_);
  }
}

void CopyLoader::send() {
  try {
    translated([&] { stream_->send(lines_); });
  } catch (...) {
    stream_.reset();
    lines_.clear();
    throw;
  }
  lines_.clear();
}

void CopyLoader::finish() {
  if (!stream_) return;
  if (!lines_.empty()) send();
  const auto stream = std::exchange(stream_, nullptr);
  translated([&] { stream->complete(); });
}

ArrayLoader::ArrayLoader(PostgresSession& session, const sql::Dialect& dialect, const sql::LoadPlan& plan)
    : session_(session), plan_(plan), sql_(upsert_from_arrays(dialect, plan)), rows_(plan, postgres_rules) {}

ArrayLoader::~ArrayLoader() = default;

void ArrayLoader::add(const Batch& batch, std::size_t first, std::size_t last) {
  for (std::size_t row = first; row < last; ++row) {
    rows_.add(batch, row);
    if (rows_.rows() >= array_rows_per_statement || rows_.bytes() >= array_bytes_per_statement) send();
  }
}

void ArrayLoader::send() {
  background_.run([this, arrays = arrays()] { translated([&] { execute(session_.transaction(), sql_, arrays); }); });
  rows_.clear();
}

std::vector<std::string> ArrayLoader::arrays() const {
  std::vector<std::string> arrays(plan_.columns.size());
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    std::string& array = arrays[i];
    array.reserve(rows_.bytes() / arrays.size() + 3 * rows_.rows());
    array = '{';
    rows_.each(i, [&](sql::CellForm form, std::string_view text) {
      if (array.size() > 1) array += ',';
      append_array_element(form, text, array);
    });
    array += '}';
  }
  return arrays;
}

void ArrayLoader::finish() {
  try {
    if (!rows_.empty()) send();
    background_.wait();
  } catch (...) {
    rows_.clear();
    throw;
  }
}

}  // namespace sluice::postgres
