#include "sinks/sqlite/dialect.h"

#include <gtest/gtest.h>

namespace sluice::sqlite {
namespace {

using sql::Family;

TEST(SqliteDialect, QuotesNames) {
  const SqliteDialect dialect;
  EXPECT_EQ(dialect.quote("plain"), "\"plain\"");
  EXPECT_EQ(dialect.quote("a\"b"), "\"a\"\"b\"");
  EXPECT_EQ(dialect.placeholder(12), "?12");
}

TEST(SqliteDialect, AffinityFollowsSqlitesRulesInTheirOrder) {
  EXPECT_EQ(affinity_of("INT"), Affinity::integer);
  EXPECT_EQ(affinity_of("unsigned big int"), Affinity::integer);
  EXPECT_EQ(affinity_of("FLOATING POINT"), Affinity::integer);  // holds INT, which SQLite looks for first
  EXPECT_EQ(affinity_of("VARCHAR(9)"), Affinity::text);
  EXPECT_EQ(affinity_of("clob"), Affinity::text);
  EXPECT_EQ(affinity_of(""), Affinity::blob);
  EXPECT_EQ(affinity_of("BLOB"), Affinity::blob);
  EXPECT_EQ(affinity_of("DOUBLE PRECISION"), Affinity::real);
  EXPECT_EQ(affinity_of("DECIMAL(10,5)"), Affinity::numeric);
  EXPECT_EQ(affinity_of("STRING"), Affinity::numeric);
}

TEST(SqliteDialect, FamiliesOfDeclaredTypes) {
  EXPECT_EQ(family_of("BIGINT"), Family::int64);
  EXPECT_EQ(family_of("smallint"), Family::int64);
  EXPECT_EQ(family_of("Boolean"), Family::boolean);
  EXPECT_EQ(family_of("numeric(10, 2)"), Family::numeric);
  EXPECT_EQ(family_of("DECIMAL (4,1)"), Family::numeric);
  EXPECT_EQ(family_of("REAL"), Family::float64);
  EXPECT_EQ(family_of("nvarchar(100)"), Family::text);
  EXPECT_EQ(family_of("JSONB"), Family::json);
  EXPECT_EQ(family_of("date"), Family::date);
  EXPECT_EQ(family_of("TIMESTAMP(3)"), Family::timestamp);
  EXPECT_EQ(family_of("timestamp with time zone"), Family::timestamp);
  EXPECT_EQ(family_of("BLOB"), Family::bytes);
  EXPECT_EQ(family_of(""), Family::other);
  EXPECT_EQ(family_of("STRING"), Family::other);
}

TEST(SqliteDialect, CreatedTypesComeBackAsAFamilyThatHoldsTheirKind) {
  const SqliteDialect dialect;
  const auto family = [&](Kind kind) { return family_of(dialect.type_for(kind, false)); };
  EXPECT_EQ(family(Kind::boolean), Family::boolean);
  EXPECT_EQ(family(Kind::integer), Family::int64);
  EXPECT_EQ(family(Kind::real), Family::float64);
  EXPECT_EQ(family(Kind::decimal), Family::text);
  EXPECT_EQ(family(Kind::timestamp), Family::text);
  EXPECT_EQ(family(Kind::text), Family::text);
  EXPECT_EQ(family(Kind::bytes), Family::bytes);
  EXPECT_EQ(family(Kind::json), Family::json);
}

}  // namespace
}  // namespace sluice::sqlite
