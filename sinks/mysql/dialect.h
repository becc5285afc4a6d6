// SQL as MySQL and MariaDB write it.
#pragma once

#include <string>
#include <string_view>

#include "sinks/sql/database.h"

namespace sluice::mysql {

class MysqlDialect final : public sql::Dialect {
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
  std::string migration_unlock() const override;
};

enum class Flavour { mysql, mariadb };

std::string quoted_table(const sql::Dialect& dialect, const sql::LoadPlan& plan);

// "INSERT INTO t (columns) VALUES ", and what stands behind the rows: nothing, or for an upsert the changes.
std::string insert_head(const sql::Dialect& dialect, const sql::LoadPlan& plan);
std::string insert_tail(const sql::Dialect& dialect, const sql::LoadPlan& plan, Flavour flavour);

// LOAD DATA that reads the lines of load_text.h from a path.
std::string load_statement(const sql::Dialect& dialect, const sql::LoadPlan& plan, std::string_view path);

}  // namespace sluice::mysql
