#include "sinks/mysql/loader.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "core/model/error.h"
#include "sinks/mysql/dialect.h"
#include "sinks/mysql/literal.h"

namespace sluice::mysql {

namespace {

// The type to which a key is cast before it is compared, so that it is rounded and padded as it was when it was
// written, and compared as what it is: a decimal in quotes would be compared as a double. Empty: as it stands.
std::string compared_as(const sql::Column& column) {
  const auto open = column.type_name.find('(');
  const std::string size = open == std::string::npos ? "" : column.type_name.substr(open);  // with what is behind it
  const std::string digits = size.substr(0, size.find(')') + 1);
  switch (column.family) {
    case sql::Family::numeric:
      return "DECIMAL(" + std::to_string(column.precision.value_or(65)) + ", " + std::to_string(column.scale) + ")";
    case sql::Family::timestamp:
    case sql::Family::timestamptz:
      return "DATETIME" + digits;
    case sql::Family::time:
      return "TIME" + digits;
    case sql::Family::bytes:
      return column.type_name.starts_with("binary") ? "BINARY" + digits : "";
    default:
      return {};
  }
}

constexpr std::size_t insert_bytes_max = std::size_t{1} << 20;
constexpr std::size_t erased_rows_max = 500;  // the optimizer gives up on indexes where there are too many
constexpr std::size_t no_limit = std::numeric_limits<std::size_t>::max();
constexpr std::size_t packet_reserve = 1024;  // of what the server takes, for the packet's own bytes

}  // namespace

LoadDataLoader::LoadDataLoader(MysqlSession& session, const sql::Dialect& dialect, const sql::LoadPlan& plan)
    : session_(session), dialect_(dialect), plan_(plan), lines_(2 * sql::tab_lines_per_send, ""), stream_(session) {}

void LoadDataLoader::add(const Batch& batch, std::size_t first, std::size_t last, std::vector<Reject>& rejects) {
  refused_row_.reset();
  for (std::size_t row = first; row < last; ++row) {
    encode(batch, row, rejects);
    if (lines_.size() >= sql::tab_lines_per_send) send();
  }
}

void LoadDataLoader::encode(const Batch& batch, std::size_t row, std::vector<Reject>& rejects) {
  if (batch.kind(row) == RowKind::erase) throw Error(Fault::fatal, "internal: a row to erase came to an append");
  lines_.begin_line();
  const auto values = batch.row(row);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const sql::CellText cell = sql::cell_text(values[i], plan_.columns[i], cell_, mysql_rules);
    if (cell.form == sql::CellForm::refused) {
      lines_.drop_line();
      return rejects.push_back({batch.origin(row), plan_.columns[i].name, cell.reason});
    }
    lines_.append_field(cell);
  }
  ++sent_;
}

void LoadDataLoader::send() {
  if (!stream_.is_open()) {
    const std::string path = stream_.make_pipe();
    stream_.open(load_statement(dialect_, plan_, path));
  }
  const bool taken = stream_.send(lines_.text()) && stream_.send("\n");
  lines_.clear();
  if (taken) return;
  sent_ = 0;
  stream_.complete();
  throw Error(Fault::retryable, "LOAD DATA ended before its last row");
}

void LoadDataLoader::finish() {
  if (!lines_.empty()) send();
  if (!stream_.is_open()) return;
  const auto sent = std::exchange(sent_, 0);
  const auto rows = stream_.complete();
  const auto warning = session_.first_warning();
  if (warning) refused_row_ = warning->row;
  if (warning) throw Error(warning->error);
  if (rows == sent) return;
  throw Error(Fault::bad_record,
              "the server took " + std::to_string(rows) + " of " + std::to_string(sent) + " rows without saying why");
}

InsertLoader::InsertLoader(MysqlSession& session, const sql::Dialect& dialect, const sql::LoadPlan& plan)
    : session_(session),
      plan_(plan),
      insert_{insert_head(dialect, plan), ", ", insert_tail(dialect, plan, session.server().flavour), no_limit},
      erase_{"DELETE FROM " + quoted_table(dialect, plan) + " WHERE ", " OR ", "", erased_rows_max},
      bytes_per_statement_(std::min(
          insert_bytes_max, session.server().packet_max -
                                std::min(session.server().packet_max / 2, packet_reserve + insert_.tail.size()))) {
  for (const std::size_t column : plan.key) {
    const std::string name = (key_.empty() ? "(" : " AND ") + dialect.quote(plan.columns[column].name);
    const std::string type = compared_as(plan.columns[column]);
    key_.push_back({column, name + (type.empty() ? " = " : " = CAST("), type.empty() ? "" : " AS " + type + ")"});
  }
}

void InsertLoader::add(const Batch& batch, std::size_t first, std::size_t last, std::vector<Reject>& rejects) {
  for (std::size_t row = first; row < last; ++row) append_row(batch, row, rejects);
}

void InsertLoader::append_row(const Batch& batch, std::size_t row, std::vector<Reject>& rejects) {
  const bool erases = batch.kind(row) == RowKind::erase;
  const Frame* const frame = erases ? &erase_ : &insert_;
  if (rows_ > 0 && (frame != frame_ || rows_ >= frame->rows_max)) send();
  frame_ = frame;
  std::string* statement = &statements_[filling_];
  const std::size_t start = statement->size();
  *statement += rows_ == 0 ? frame->head : frame->between;
  const std::size_t row_start = statement->size();
  if (auto refused = erases ? append_condition(batch, row, *statement) : append_values(batch, row, *statement)) {
    statement->resize(start);
    return rejects.push_back(*std::move(refused));
  }
  if (frame->head.size() + statement->size() - row_start + frame->tail.size() + packet_reserve >
      session_.server().packet_max) {
    statement->resize(start);
    return rejects.push_back({batch.origin(row), "", "the row is longer than max_allowed_packet of the server"});
  }
  if (rows_ > 0 && statement->size() > bytes_per_statement_) {  // the last row goes into the next statement
    const std::string last = statement->substr(row_start);
    statement->resize(start);
    send();
    statements_[filling_] = frame->head + last;
  }
  ++rows_;
}

std::optional<Reject> InsertLoader::append_values(const Batch& batch, std::size_t row, std::string& statement) {
  const auto values = batch.row(row);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const sql::CellText cell = sql::cell_text(values[i], plan_.columns[i], cell_, mysql_rules);
    if (cell.form == sql::CellForm::refused) return Reject{batch.origin(row), plan_.columns[i].name, cell.reason};
    statement += i == 0 ? '(' : ',';
    append_literal(cell, plan_.columns[i], statement);
  }
  statement += ')';
  return std::nullopt;
}

// Not a row constructor: MariaDB finds no index for those.
std::optional<Reject> InsertLoader::append_condition(const Batch& batch, std::size_t row, std::string& statement) {
  const auto values = batch.row(row);
  for (const KeyPart& part : key_) {
    const sql::Column& column = plan_.columns[part.column];
    const sql::CellText cell = sql::cell_text(values[part.column], column, cell_, mysql_rules);
    if (cell.form == sql::CellForm::refused) return Reject{batch.origin(row), column.name, cell.reason};
    if (cell.form == sql::CellForm::null) return Reject{batch.origin(row), column.name, sql::no_key_to_erase};
    statement += part.before;
    append_literal(cell, column, statement);
    statement += part.behind;
  }
  statement += ')';
  return std::nullopt;
}

void InsertLoader::finish() {
  if (rows_ > 0) send();
  background_.wait();
}

void InsertLoader::send() {
  std::string& full = statements_[filling_];
  full += frame_->tail;
  rows_ = 0;
  filling_ = 1 - filling_;
  try {
    background_.run([this, &full] { session_.run(full); });  // waits for the one before
  } catch (...) {
    for (std::string& statement : statements_) statement.clear();
    throw;
  }
  statements_[filling_].clear();
}

}  // namespace sluice::mysql
