// Rows into one table: LOAD DATA where the server allows it, else INSERT with many rows. Internal to this folder.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sinks/mysql/load_stream.h"
#include "sinks/mysql/session.h"
#include "sinks/sql/background.h"
#include "sinks/sql/cell_text.h"
#include "sinks/sql/database.h"
#include "sinks/sql/tab_lines.h"

namespace sluice::mysql {

// LOCAL makes the server leave rows out, or change them, with a warning where INSERT fails. So finish() throws unless
// as many rows went in as were sent, without a warning.
class LoadDataLoader final : public sql::RowLoader {
 public:
  LoadDataLoader(MysqlSession& session, const sql::Dialect& dialect, const sql::LoadPlan& plan);

  void add(const Batch& batch, std::size_t first, std::size_t last, std::vector<Reject>& rejects) override;
  void finish() override;
  std::optional<std::size_t> refused_row() const override { return refused_row_; }

 private:
  void encode(const Batch& batch, std::size_t row, std::vector<Reject>& rejects);
  void send();
  void require_all(std::uint64_t rows);

  MysqlSession& session_;
  const sql::Dialect& dialect_;
  const sql::LoadPlan& plan_;
  sql::TabLines lines_;
  sql::CellBuffer cell_;
  std::uint64_t sent_ = 0;
  std::optional<std::size_t> refused_row_;
  LoadStream stream_;
};

// One statement is made while the other one runs: an INSERT of many rows, or a DELETE of many keys, in the order in
// which the rows came.
class InsertLoader final : public sql::RowLoader {
 public:
  InsertLoader(MysqlSession& session, const sql::Dialect& dialect, const sql::LoadPlan& plan);

  void add(const Batch& batch, std::size_t first, std::size_t last, std::vector<Reject>& rejects) override;
  void finish() override;

 private:
  // What stands around the rows of a statement.
  struct Frame {
    std::string head;
    std::string between;
    std::string tail;
    std::size_t rows_max = 0;
  };

  // What stands around a key's cell in a condition.
  struct KeyPart {
    std::size_t column = 0;
    std::string before;
    std::string behind;
  };

  void append_row(const Batch& batch, std::size_t row, std::vector<Reject>& rejects);
  // A reason why the row cannot be written, and the column.
  std::optional<Reject> append_values(const Batch& batch, std::size_t row, std::string& statement);
  std::optional<Reject> append_condition(const Batch& batch, std::size_t row, std::string& statement);
  void send();

  MysqlSession& session_;
  const sql::LoadPlan& plan_;
  Frame insert_;
  Frame erase_;
  const Frame* frame_ = &insert_;  // of the statement that is filled
  std::vector<KeyPart> key_;
  std::size_t bytes_per_statement_;
  std::array<std::string, 2> statements_;
  std::size_t filling_ = 0;
  std::size_t rows_ = 0;  // in the one that is filled
  sql::CellBuffer cell_;
  sql::Background background_;  // last: it ends before what it uses
};

}  // namespace sluice::mysql
