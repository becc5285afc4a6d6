// Inserts into PostgreSQL: COPY.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sinks/postgres/copy_stream.h"
#include "sinks/postgres/session.h"
#include "sinks/sql/database.h"
#include "sinks/sql/tab_lines.h"

namespace sluice::postgres {

// One COPY that stays open from the epoch's first row to finish(): the socket lets the server work while we decode.
class CopyLoader final : public sql::RowLoader {
 public:
  CopyLoader(PostgresSession& session, const sql::Dialect& dialect, const sql::LoadPlan& plan);
  ~CopyLoader() override;

  void add(const Batch& batch, std::size_t first, std::size_t last, std::vector<Reject>& rejects) override;
  void finish() override;
  std::optional<std::size_t> refused_row() const override { return refused_row_; }

 private:
  void encode(const Batch& batch, std::size_t row, std::vector<Reject>& rejects);
  void send();

  PostgresSession& session_;
  const sql::LoadPlan& plan_;
  std::string table_;
  std::string columns_;
  std::unique_ptr<CopyStream> stream_;
  sql::TabLines lines_;
  sql::CellBuffer cell_;
  std::optional<std::size_t> refused_row_;
};

}  // namespace sluice::postgres
