#include "sinks/postgres/dialect.h"

#include <gtest/gtest.h>

namespace sluice::postgres {
namespace {

using sql::Column;
using sql::Family;

Column column(const char* name, const char* type, Family family) {
  Column made;
  made.name = name;
  made.type_name = type;
  made.family = family;
  return made;
}

sql::LoadPlan plan() {
  return {"public",
          "or\"ders",
          {column("id", "bigint", Family::int64), column("data", "jsonb", Family::json)},
          {0},
          sql::InsertMode::upsert};
}

TEST(PostgresDialect, NamesAreQuoted) {
  EXPECT_EQ(PostgresDialect().quote("a\"b"), "\"a\"\"b\"");
  EXPECT_EQ(quoted_table(PostgresDialect(), plan()), "\"public\".\"or\"\"ders\"");
}

TEST(PostgresDialect, UpsertNamesTypesKeyAndChanges) {
  EXPECT_EQ(upsert_from_arrays(PostgresDialect(), plan()),
            "INSERT INTO \"public\".\"or\"\"ders\" (\"id\", \"data\") SELECT c1, c2::jsonb FROM unnest($1::bigint[], "
            "$2::text[]) AS rows(c1, c2) ON CONFLICT (\"id\") DO UPDATE SET \"data\" = EXCLUDED.\"data\"");
}

TEST(PostgresDialect, UpsertOfNothingButAKeyChangesNothing) {
  sql::LoadPlan key_only = plan();
  key_only.columns.pop_back();
  const std::string statement = upsert_from_arrays(PostgresDialect(), key_only);
  EXPECT_TRUE(statement.ends_with("ON CONFLICT (\"id\") DO NOTHING")) << statement;
}

TEST(PostgresDialect, LookUpComparesTheWholeKey) {
  sql::LoadPlan both = plan();
  both.columns[1] = column("part", "bytea", Family::bytes);
  both.key = {1, 0};
  EXPECT_EQ(known_keys_in_arrays(PostgresDialect(), both),
            "SELECT place - 1 FROM unnest($1::text[], $2::bigint[]) WITH ORDINALITY AS given(k1, k2, place) WHERE "
            "(SELECT true FROM \"public\".\"or\"\"ders\" AS known WHERE known.\"part\" = given.k1::bytea AND "
            "known.\"id\" = given.k2 LIMIT 1) ORDER BY place");
  EXPECT_EQ(
      erase_keys_in_arrays(PostgresDialect(), both),
      "DELETE FROM \"public\".\"or\"\"ders\" AS known USING unnest($1::text[], $2::bigint[]) AS given(k1, k2) WHERE "
      "known.\"part\" = given.k1::bytea AND known.\"id\" = given.k2");
}

}  // namespace
}  // namespace sluice::postgres
