// Upserts into PostgreSQL.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "sinks/postgres/session.h"
#include "sinks/sql/background.h"
#include "sinks/sql/database.h"
#include "sinks/sql/row_buffer.h"

namespace sluice::postgres {

// Some thousand rows at a time, written on a thread of its own while the next ones are made ready. ON CONFLICT writes
// speculatively, which makes a row twice as dear as a plain insert, and COPY is cheaper still. So a large block is
// looked up first: rows with new keys go in by COPY, the others by one INSERT ... ON CONFLICT from arrays.
//
// Rows of one key stay in order; of different keys, new ones go first. Rows to erase are blocks of their own, in order
// with the others.
class UpsertLoader final : public sql::RowLoader {
 public:
  UpsertLoader(PostgresSession& session, const sql::Dialect& dialect, const sql::LoadPlan& plan);
  ~UpsertLoader() override;

  void add(const Batch& batch, std::size_t first, std::size_t last, std::vector<Reject>& rejects) override;
  void finish() override;

 private:
  using Rows = std::vector<std::size_t>;  // of a buffer

  void send();
  // On the background thread:
  void merge(const sql::RowBuffer& block);
  void erase(const sql::RowBuffer& block, const Rows& rows);
  std::vector<std::string> keys_of(const sql::RowBuffer& block, const Rows& rows) const;
  bool look_up_allowed();
  Rows take_known(const sql::RowBuffer& block, Rows& rows);
  bool copied(const sql::RowBuffer& block, const Rows& rows);
  void copy(const sql::RowBuffer& block, const Rows& rows);
  void upsert(const sql::RowBuffer& block, const Rows& rows);

  PostgresSession& session_;
  const sql::LoadPlan& plan_;
  std::string table_;
  std::string columns_;
  std::string upsert_;
  std::string look_up_;
  std::string erase_;
  std::optional<bool> look_up_allowed_;  // not asked yet
  int blocks_until_look_up_ = 0;
  std::array<sql::RowBuffer, 2> blocks_;  // one is filled while the other is written
  std::size_t filling_ = 0;
  sql::Background background_;  // last: it ends before what it uses
};

}  // namespace sluice::postgres
