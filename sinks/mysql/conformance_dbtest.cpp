#include <memory>
#include <string>

#include "core/testing/checkpoint_table_conformance.h"
#include "core/testing/fail_every_step.h"
#include "core/testing/sink_conformance.h"
#include "core/testing/sql_conformance.h"
#include "sinks/mysql/mysql_database.h"
#include "sinks/mysql/test_schema.h"

namespace sluice::mysql {
namespace {

class MysqlUnderTest final : public testing::SqlUnderTest {
 public:
  explicit MysqlUnderTest(const TestServer& server, const std::string& options = {}) : schema_(server, options) {}

  std::unique_ptr<sql::Database> database() override {
    return std::make_unique<MysqlDatabase>(MysqlConfig{schema_.url()});
  }

 protected:
  std::string cell(Kind kind, const std::string& column) const override {
    switch (kind) {
      case Kind::bytes:
        return "lower(hex(" + column + "))";
      case Kind::boolean:
        return "CASE " + column + " WHEN 0 THEN 'false' WHEN 1 THEN 'true' END";
      case Kind::timestamp:
        return "timestampdiff(MICROSECOND, '1970-01-01', " + column + ")";
      default:
        return column;
    }
  }

 private:
  TestSchema schema_;
};

bool add(const TestServer& server, const std::string& name, const std::string& options) {
  const testing::SqlMaker factory{
      .make = [server, options] { return std::make_unique<MysqlUnderTest>(server, options); },
      // MariaDB 10.11.19 fell over (a segmentation fault of the server) in one of some runs of these, when a branch was
      // finished while its session ended: there the crash matrix and test_two_phase.py, which kill the real binary,
      // must do.
      .capabilities = {.two_phase = name == "Mysql"},
      .missing = server.url.empty() ? server.variable + " names no server" : ""};
  const bool added = testing::add_sink_conformance(name, {.make = factory.make, .missing = factory.missing});
  // How rows go in is of no matter to the steps of the protocol.
  return options.empty() ? added && testing::add_fail_every_step(name, factory) &&
                               testing::add_checkpoint_table_conformance(name, factory)
                         : added;
}

// Each with both ways in for rows.
const bool registered =
    add(TestServer::mysql(), "Mysql", "") && add(TestServer::mysql(), "MysqlInsert", "?local-infile=0") &&
    add(TestServer::mariadb(), "Mariadb", "") && add(TestServer::mariadb(), "MariadbInsert", "?local-infile=0");

}  // namespace
}  // namespace sluice::mysql
