#pragma once

#include "sinks/sql/database.h"

namespace sluice::postgres {

class PostgresDialect final : public sql::Dialect {
 public:
  std::string quote(std::string_view identifier) const override;
  std::string placeholder(std::size_t n) const override;
  std::string type_for(Kind kind, bool key) const override;
  std::string now() const override;
  std::string unless_present() const override;
  std::string hex(std::string_view column) const override;
  std::string check_rules_at_once() const override;
  bool is_rule(std::string_view code) const override;
  std::string migration_lock() const override;
};

// schema.table, both quoted.
std::string quoted_table(const sql::Dialect& dialect, const sql::LoadPlan& plan);
// The plan's columns in its order, quoted, with commas.
std::string quoted_columns(const sql::Dialect& dialect, const sql::LoadPlan& plan);

// One statement for any number of rows: an array for each column, $1, $2, ..., written by its key.
// Unlike a merge from a temporary table it is allowed in a prepared transaction.
std::string upsert_from_arrays(const sql::Dialect& dialect, const sql::LoadPlan& plan);

// Which keys are in the table: an array for each column of the key, $1, $2, ... Yields their places in the arrays, from
// 0, ascending.
std::string known_keys_in_arrays(const sql::Dialect& dialect, const sql::LoadPlan& plan);
// Erases the rows of these keys, given in the same way.
std::string erase_keys_in_arrays(const sql::Dialect& dialect, const sql::LoadPlan& plan);

}  // namespace sluice::postgres
