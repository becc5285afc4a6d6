// SQLite's way to write SQL, and what its declared types mean. Pure; used from any thread.
#pragma once

#include <string>
#include <string_view>

#include "sinks/sql/database.h"

namespace sluice::sqlite {

class SqliteDialect final : public sql::Dialect {
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

// What SQLite turns values of a column into, by its own rules (https://www.sqlite.org/datatype3.html, 3.1).
enum class Affinity { integer, text, blob, real, numeric };
Affinity affinity_of(std::string_view declared_type);

// By well-known names first, then by affinity. SQLite ignores lengths and precisions in a type, and any of its integers
// has 64 bits: so VARCHAR(9) is text without a limit, and SMALLINT is int64.
sql::Family family_of(std::string_view declared_type);

}  // namespace sluice::sqlite
