#include <stdlib.h>

#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>

#include "core/testing/checkpoint_table_conformance.h"
#include "core/testing/fail_every_step.h"
#include "core/testing/sink_conformance.h"
#include "core/testing/sql_conformance.h"
#include "sinks/sqlite/sqlite_database.h"

namespace sluice::sqlite {
namespace {

// A file of its own for each test.
class SqliteUnderTest final : public testing::SqlUnderTest {
 public:
  SqliteUnderTest() {
    std::string pattern = (std::filesystem::temp_directory_path() / "sluice-conformance-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("mkdtemp failed");
    directory_ = pattern;
  }
  ~SqliteUnderTest() override { std::filesystem::remove_all(directory_); }

  std::unique_ptr<sql::Database> database() override {
    return std::make_unique<SqliteDatabase>(SqliteConfig{(directory_ / "test.db").string()});
  }

 protected:
  std::string cell(Kind kind, const std::string& column) const override {
    switch (kind) {
      case Kind::boolean:
        return "CASE " + column + " WHEN 1 THEN 'true' WHEN 0 THEN 'false' END";
      case Kind::real:
        return "CASE WHEN " + column + " IS NOT NULL THEN printf('%!.20g', " + column + ") END";
      case Kind::bytes:
        return "CASE WHEN " + column + " IS NOT NULL THEN lower(hex(" + column + ")) END";
      case Kind::timestamp:  // whole seconds first: strftime('%s') rounds
        return "strftime('%s', substr(" + column + ", 1, 19)) * 1000000 + CASE instr(" + column +
               ", '.') WHEN 0 THEN 0 ELSE CAST(substr(substr(" + column + ", instr(" + column +
               ", '.') + 1, 6) || '000000', 1, 6) AS INTEGER) END";
      default:
        return column;
    }
  }

 private:
  std::filesystem::path directory_;
};

constexpr testing::SinkCapabilities capabilities{.several_writers = false, .ends_sessions = false};
const auto make = [] { return std::make_unique<SqliteUnderTest>(); };
const bool registered = testing::add_sink_conformance("Sqlite", {.make = make, .capabilities = capabilities}) &&
                        testing::add_fail_every_step("Sqlite", {.make = make, .capabilities = capabilities}) &&
                        testing::add_checkpoint_table_conformance("Sqlite", {.make = make});

}  // namespace
}  // namespace sluice::sqlite
