#include "sinks/sqlite/loader.h"

#include <charconv>
#include <cmath>

#include "core/model/error.h"
#include "sinks/sql/number_text.h"
#include "sinks/sql/standard_text.h"
#include "sinks/sqlite/errors.h"

namespace sluice::sqlite {
namespace {

using sql::CellForm;
using sql::CellText;
using sql::Family;

// SQLite takes any JSON escape as it is; it cuts text at a NUL in half of its functions, so that is refused.
constexpr sql::CellRules kRules{.nul_in_text = false, .nul_escape_in_json = true};

// Decimal digits that survive the way through a double, by SQLite's own reckoning.
constexpr std::size_t kDigitsExact = 15;

double to_double(std::string_view digits) {
  double value = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return value;
}

std::int64_t to_integer(std::string_view digits) {
  std::int64_t value = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return value;
}

std::size_t skip_digits(std::string_view& text) {
  std::size_t count = 0;
  while (count < text.size() && text[count] >= '0' && text[count] <= '9') ++count;
  text.remove_prefix(count);
  return count;
}

void skip_sign(std::string_view& text) {
  if (!text.empty() && (text.front() == '+' || text.front() == '-')) text.remove_prefix(1);
}

// Would a column with NUMERIC affinity turn the text into a number? That is more than parse_number() reads: blanks
// around it, a plus sign, a missing digit before or behind the point.
bool looks_numeric(std::string_view text) {
  const auto is_blank = [](char c) { return c == ' ' || (c >= '\t' && c <= '\r'); };
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  skip_sign(text);
  std::size_t digits = skip_digits(text);
  if (!text.empty() && text.front() == '.') {
    text.remove_prefix(1);
    digits += skip_digits(text);
  }
  if (digits == 0) return false;
  if (text.empty()) return true;
  if (text.front() != 'e' && text.front() != 'E') return false;
  text.remove_prefix(1);
  skip_sign(text);
  return skip_digits(text) > 0 && text.empty();
}

}  // namespace

std::string load_statement(const sql::LoadPlan& plan) {
  const SqliteDialect dialect;
  std::string columns;
  std::string values;
  for (std::size_t i = 0; i < plan.columns.size(); ++i) {
    columns.append(i == 0 ? "" : ", ").append(dialect.quote(plan.columns[i].name));
    values.append(i == 0 ? "" : ", ").append(dialect.placeholder(i + 1));
  }
  std::string sql = "INSERT INTO " + dialect.quote(plan.table) + " (" + columns + ") VALUES (" + values + ")";
  if (plan.mode != sql::InsertMode::upsert || plan.key.empty()) return sql;
  return sql + sql::on_conflict_update(dialect, plan);
}

std::string erase_statement(const sql::LoadPlan& plan) {
  const SqliteDialect dialect;
  std::string key;
  for (std::size_t i = 0; i < plan.key.size(); ++i) {
    key.append(i == 0 ? "" : " AND ").append(dialect.quote(plan.columns[plan.key[i]].name));
    key.append(" = ").append(dialect.placeholder(plan.key[i] + 1));
  }
  return "DELETE FROM " + dialect.quote(plan.table) + " WHERE " + key;
}

SqliteLoader::SqliteLoader(SqliteSession& session, const sql::LoadPlan& plan)
    : session_(session),
      table_(plan.table),
      cells_(plan.columns.size()),
      key_(plan.key),
      erase_text_(plan.key.empty() ? "" : erase_statement(plan)) {
  for (std::size_t i = 0; i < cells_.size(); ++i) {
    cells_[i].column = plan.columns[i];
    cells_[i].affinity = affinity_of(plan.columns[i].type_name);
    cells_[i].place = static_cast<int>(i) + 1;
  }
  load_ = session.prepare(load_statement(plan));
}

void SqliteLoader::add(const Batch& batch, std::size_t first, std::size_t last, std::vector<Reject>& rejects) {
  session_.require_transaction();
  if (batch.columns() != cells_.size()) {
    throw Error(Fault::fatal, "rows for table " + table_ + " have " + std::to_string(batch.columns()) + " cells, " +
                                  std::to_string(cells_.size()) + " are needed; this is a bug");
  }
  for (std::size_t i = first; i < last; ++i) {
    if (batch.kind(i) == RowKind::erase) {
      erase_row(batch.row(i), batch.origin(i), rejects);
    } else {
      add_row(batch.row(i), batch.origin(i), rejects);
    }
  }
}

// Every row was stepped; nothing waits.
void SqliteLoader::finish() {
  session_.require_transaction();
}

void SqliteLoader::add_row(std::span<const Value> row, Origin origin, std::vector<Reject>& rejects) {
  statement_ = load_.get();
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (const char* reason = bind(cells_[i], row[i])) return rejects.push_back({origin, cells_[i].column.name, reason});
  }
  step(origin, rejects);
}

void SqliteLoader::erase_row(std::span<const Value> row, Origin origin, std::vector<Reject>& rejects) {
  if (!erase_) erase_ = session_.prepare(erase_text_);
  statement_ = erase_.get();
  for (const std::size_t i : key_) {
    const bool missing = std::holds_alternative<Null>(row[i]);
    if (const char* reason = missing ? sql::no_key_to_erase : bind(cells_[i], row[i])) {
      return rejects.push_back({origin, cells_[i].column.name, reason});
    }
  }
  step(origin, rejects);
}

void SqliteLoader::step(Origin origin, std::vector<Reject>& rejects) {
  const auto changes = sqlite3_total_changes64(session_.handle());
  const int code = sqlite3_step(statement_);
  if (code == SQLITE_DONE) {
    sqlite3_reset(statement_);
    return;
  }
  const Error error = session_.last_error("writing a row of table " + table_);
  const std::string detail = sqlite3_errmsg(session_.handle());
  sqlite3_reset(statement_);
  if (error.fault() != Fault::bad_record) throw Error(error);
  if (sqlite3_get_autocommit(session_.handle()) != 0) {
    throw Error(Fault::fatal,
                "table " + table_ +
                    " says ON CONFLICT ROLLBACK, so that one refused row ends the whole "
                    "transaction of the epoch: declare the table without it (" +
                    detail + ")",
                error.code());
  }
  if (sqlite3_total_changes64(session_.handle()) != changes) {
    throw Error(Fault::fatal,
                "a trigger of table " + table_ +
                    " refuses a row and leaves it there all the same "
                    "(RAISE(FAIL)): use RAISE(ABORT) in it (" +
                    detail + ")",
                error.code());
  }
  const RejectClass of = SqliteDialect().is_rule(error.code()) ? RejectClass::constraint : RejectClass::data;
  rejects.push_back({origin, {}, "sqlite refused the row for table " + table_ + ": " + detail, of, error.code()});
}

void SqliteLoader::require(int code) {
  if (code != SQLITE_OK) throw session_.last_error("binding a value for table " + table_);
}

const char* SqliteLoader::bind(Cell& cell, const Value& value) {
  if (const auto* integer = std::get_if<std::int64_t>(&value);
      integer != nullptr && cell.column.family == Family::int64) {
    require(sqlite3_bind_int64(statement_, cell.place, *integer));
    return nullptr;
  }
  if (cell.column.type_name.empty() && bind_untyped(cell, value)) return nullptr;
  const CellText text = sql::cell_text(value, cell.column, cell.buffer, kRules);
  if (text.form == CellForm::refused) return text.reason;
  if (text.form == CellForm::null) {
    require(sqlite3_bind_null(statement_, cell.place));
    return nullptr;
  }
  switch (cell.column.family) {
    case Family::int16:
    case Family::int32:
    case Family::int64:
      require(sqlite3_bind_int64(statement_, cell.place, to_integer(text.text)));
      return nullptr;
    case Family::boolean:
      require(sqlite3_bind_int(statement_, cell.place, text.text == "true" ? 1 : 0));
      return nullptr;
    case Family::float32:
    case Family::float64:
      require(sqlite3_bind_double(statement_, cell.place, to_double(text.text)));
      return nullptr;
    case Family::numeric:
      return bind_number(cell, text.text);
    default:
      return bind_text(cell, text);
  }
}

bool SqliteLoader::bind_untyped(const Cell& cell, const Value& value) {
  if (const auto* integer = std::get_if<std::int64_t>(&value)) {
    require(sqlite3_bind_int64(statement_, cell.place, *integer));
  } else if (const auto* real = std::get_if<double>(&value); real != nullptr && std::isfinite(*real)) {
    require(sqlite3_bind_double(statement_, cell.place, *real));
  } else if (const auto* boolean = std::get_if<bool>(&value)) {
    require(sqlite3_bind_int(statement_, cell.place, *boolean ? 1 : 0));
  } else if (const auto* bytes = std::get_if<Bytes>(&value)) {
    bind_text(cell, {CellForm::bytes, bytes->raw});
  } else {
    return false;
  }
  return true;
}

const char* SqliteLoader::bind_text(const Cell& cell, const CellText& text) {
  // A null pointer would bind NULL instead of nothing.
  const char* const data = text.text.data() != nullptr ? text.text.data() : "";
  if (text.form == CellForm::bytes) {
    require(sqlite3_bind_blob64(statement_, cell.place, data, text.text.size(), SQLITE_STATIC));
    return nullptr;
  }
  if (cell.affinity == Affinity::numeric && looks_numeric(text.text)) {
    // SQLite would make a number of it, and lose leading zeros and digits in silence.
    if (cell.column.family == Family::json || text.form == CellForm::plain) return bind_number(cell, text.text);
    return "is text that SQLite would turn into a number in a column of this type; declare the column TEXT";
  }
  require(sqlite3_bind_text64(statement_, cell.place, data, text.text.size(), SQLITE_STATIC, SQLITE_UTF8));
  return nullptr;
}

const char* SqliteLoader::bind_number(const Cell& cell, std::string_view digits) {
  const auto number = sql::parse_number(digits);
  if (!number) return "is not a number as SQLite and JSON write them";
  std::int64_t integer = 0;
  if (sql::to_int64(*number, integer) == nullptr) {
    require(sqlite3_bind_int64(statement_, cell.place, integer));
    return nullptr;
  }
  if (number->size > kDigitsExact) {
    return "has more digits than SQLite keeps in a column of this type (15); declare the column TEXT";
  }
  if (const char* reason = sql::check_float64(digits)) return reason;
  require(sqlite3_bind_double(statement_, cell.place, to_double(digits)));
  return nullptr;
}

}  // namespace sluice::sqlite
