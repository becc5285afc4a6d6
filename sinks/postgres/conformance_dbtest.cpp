#include <memory>
#include <string>

#include "core/testing/sink_conformance.h"
#include "core/testing/sql_under_test.h"
#include "sinks/postgres/postgres_database.h"
#include "sinks/postgres/test_schema.h"

namespace sluice::postgres {
namespace {

class PostgresUnderTest final : public testing::SqlUnderTest {
 public:
  Capabilities capabilities() const override { return {.several_writers = true, .ends_sessions = true}; }

 protected:
  std::unique_ptr<sql::Database> database() override { return std::make_unique<PostgresDatabase>(schema_.config()); }

  std::string cell(Kind kind, const std::string& column) const override {
    switch (kind) {
      case Kind::bytes:
        return "encode(" + column + ", 'hex')";
      case Kind::timestamp:
        return "(extract(epoch FROM " + column + ") * 1000000)::bigint::text";
      default:
        return column + "::text";
    }
  }

 private:
  TestSchema schema_;
};

const bool registered = testing::add_sink_conformance(
    "Postgres", {[] { return std::make_unique<PostgresUnderTest>(); },
                 TestSchema::server_url().empty() ? "SLUICE_TEST_POSTGRES_URL names no server" : ""});

}  // namespace
}  // namespace sluice::postgres
