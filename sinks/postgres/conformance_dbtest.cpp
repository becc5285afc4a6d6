#include <memory>
#include <string>

#include "core/testing/checkpoint_table_conformance.h"
#include "core/testing/fail_every_step.h"
#include "core/testing/sink_conformance.h"
#include "core/testing/sql_conformance.h"
#include "sinks/postgres/postgres_database.h"
#include "sinks/postgres/test_schema.h"

namespace sluice::postgres {
namespace {

class PostgresUnderTest final : public testing::SqlUnderTest {
 public:
  std::unique_ptr<sql::Database> database() override { return std::make_unique<PostgresDatabase>(schema_.config()); }

 protected:
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

const auto make = [] { return std::make_unique<PostgresUnderTest>(); };
const std::string missing = TestSchema::server_url().empty() ? "SLUICE_TEST_POSTGRES_URL names no server" : "";
const bool registered =
    testing::add_sink_conformance("Postgres", {.make = make, .missing = missing}) &&
    testing::add_fail_every_step("Postgres", {.make = make, .capabilities = {.two_phase = true}, .missing = missing}) &&
    testing::add_checkpoint_table_conformance("Postgres", {.make = make, .missing = missing});

}  // namespace
}  // namespace sluice::postgres
