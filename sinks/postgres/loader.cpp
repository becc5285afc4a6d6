#include "sinks/postgres/loader.h"

#include <utility>

#include "core/model/error.h"
#include "sinks/postgres/array_text.h"
#include "sinks/postgres/dialect.h"
#include "sinks/postgres/errors.h"

namespace sluice::postgres {

CopyLoader::CopyLoader(PostgresSession& session, const sql::Dialect& dialect, const sql::LoadPlan& plan)
    : session_(session),
      plan_(plan),
      table_(quoted_table(dialect, plan)),
      columns_(quoted_columns(dialect, plan)),
      lines_(2 * sql::tab_lines_per_send, copy_hex) {}

CopyLoader::~CopyLoader() = default;

void CopyLoader::add(const Batch& batch, std::size_t first, std::size_t last, std::vector<Reject>& rejects) {
  if (!stream_) {
    translated([&] { stream_ = std::make_unique<CopyStream>(session_.transaction(), table_, columns_); });
  }
  for (std::size_t row = first; row < last; ++row) {
    encode(batch, row, rejects);
    if (lines_.size() >= sql::tab_lines_per_send) send();
  }
}

void CopyLoader::encode(const Batch& batch, std::size_t row, std::vector<Reject>& rejects) {
  if (batch.kind(row) == RowKind::erase) throw Error(Fault::fatal, "internal: a row to erase came to an append");
  lines_.begin_line();
  const auto values = batch.row(row);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const sql::CellText cell = sql::cell_text(values[i], plan_.columns[i], cell_, postgres_rules);
    if (cell.form == sql::CellForm::refused) {
      lines_.drop_line();
      return rejects.push_back({batch.origin(row), plan_.columns[i].name, cell.reason});
    }
    lines_.append_field(cell);
  }
}

void CopyLoader::send() {
  try {
    translated([&] { stream_->send(lines_.text()); });
  } catch (...) {
    stream_.reset();
    lines_.clear();
    throw;
  }
  lines_.clear();
}

void CopyLoader::finish() {
  refused_row_.reset();
  if (!stream_) return;
  if (!lines_.empty()) send();
  const auto stream = std::exchange(stream_, nullptr);
  translated([&] {
    try {
      stream->complete();
    } catch (const pqxx::sql_error& error) {
      refused_row_ = copied_row(error.what());
      throw;
    }
  });
}

}  // namespace sluice::postgres
