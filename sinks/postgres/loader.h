// The two ways of rows into PostgreSQL: COPY for inserts, arrays for upserts.
#pragma once

#include <memory>
#include <string>

#include "sinks/postgres/copy_stream.h"
#include "sinks/postgres/session.h"
#include "sinks/sql/background.h"
#include "sinks/sql/database.h"
#include "sinks/sql/row_buffer.h"

namespace sluice::postgres {

// One COPY that stays open from the epoch's first row to finish(): the socket lets the server work while we decode.
class CopyLoader final : public sql::RowLoader {
 public:
  CopyLoader(PostgresSession& session, const sql::Dialect& dialect, const sql::LoadPlan& plan);
  ~CopyLoader() override;

  void add(const Batch& batch, std::size_t first, std::size_t last) override;
  void finish() override;

 private:
  void encode(const Batch& batch, std::size_t row);
  void send();

  PostgresSession& session_;
  const sql::LoadPlan& plan_;
  std::string table_;
  std::string columns_;
  std::unique_ptr<CopyStream> stream_;
  std::string lines_;
  sql::CellBuffer cell_;
};

// Statements over arrays, each of some thousand rows, run on a thread of their own while the next rows are made ready.
class ArrayLoader final : public sql::RowLoader {
 public:
  ArrayLoader(PostgresSession& session, const sql::Dialect& dialect, const sql::LoadPlan& plan);
  ~ArrayLoader() override;

  void add(const Batch& batch, std::size_t first, std::size_t last) override;
  void finish() override;

 private:
  void send();
  std::vector<std::string> arrays() const;

  PostgresSession& session_;
  const sql::LoadPlan& plan_;
  std::string sql_;
  sql::RowBuffer rows_;
  sql::Background background_;
};

}  // namespace sluice::postgres
