// Rows into one table, one prepared statement for all of them. Only for this folder.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "sinks/sql/cell_text.h"
#include "sinks/sql/database.h"
#include "sinks/sqlite/dialect.h"
#include "sinks/sqlite/session.h"

namespace sluice::sqlite {

// INSERT, and for an upsert ON CONFLICT with exactly the key: another unique index that a row meets is an error, never
// a reason to change the row of another key.
std::string load_statement(const sql::LoadPlan& plan);
// DELETE of the row of one key.
std::string erase_statement(const sql::LoadPlan& plan);

// Borrows the session. Each row has been accepted or refused when add() returns.
class SqliteLoader final : public sql::RowLoader {
 public:
  SqliteLoader(SqliteSession& session, const sql::LoadPlan& plan);

  void add(const Batch& batch, std::size_t first, std::size_t last, std::vector<Reject>& rejects) override;
  void finish() override;

 private:
  // What a cell needs besides its column.
  struct Cell {
    sql::Column column;
    Affinity affinity = Affinity::blob;
    int place = 0;           // of the placeholder
    sql::CellBuffer buffer;  // holds the text until the row was stepped
  };

  void add_row(std::span<const Value> row, Origin origin, std::vector<Reject>& rejects);
  void erase_row(std::span<const Value> row, Origin origin, std::vector<Reject>& rejects);
  void step(Origin origin, std::vector<Reject>& rejects);
  // A reason why the value cannot be stored, or nullptr.
  const char* bind(Cell& cell, const Value& value);
  // A column without a type keeps what it is given, as its own kind. False: the value goes as text.
  bool bind_untyped(const Cell& cell, const Value& value);
  const char* bind_text(const Cell& cell, const sql::CellText& text);
  const char* bind_number(const Cell& cell, std::string_view digits);
  void require(int code);

  SqliteSession& session_;
  std::string table_;
  std::vector<Cell> cells_;
  std::vector<std::size_t> key_;  // indexes of the key's cells
  Statement load_;
  Statement erase_;                    // made for the first row to erase
  sqlite3_stmt* statement_ = nullptr;  // the one of the two that values are bound to
  std::string erase_text_;
};

}  // namespace sluice::sqlite
