#include "core/format/redact.h"

#include <gtest/gtest.h>

namespace sluice::format {

namespace {

TEST(Redact, HidesThePasswordOfTheUser) {
  EXPECT_EQ(redact("postgresql://app:secret@localhost:5432/shop"), "postgresql://app:***@localhost:5432/shop");
  EXPECT_EQ(redact("mysql://app:secret@[::1]:3306/shop"), "mysql://app:***@[::1]:3306/shop");
  EXPECT_EQ(redact("postgresql://:secret@localhost/shop"), "postgresql://:***@localhost/shop");
}

TEST(Redact, LeavesUrlsWithoutAPasswordAlone) {
  for (const auto* url : {"postgresql://app@localhost:5432/shop", "postgresql://localhost:5432/shop",
                          "postgresql://h1:5432,h2:5432/shop?target_session_attrs=read-write",
                          "postgresql://localhost:5432/shop?user=app@tenant", "sqlite:///var/lib/a:b@c.db",
                          "sqlite:relative.db", "", "host=localhost user=app"}) {
    EXPECT_EQ(redact(url), url);
  }
}

TEST(Redact, HidesParameters) {
  EXPECT_EQ(redact("postgresql:///shop?password=secret&user=app"), "postgresql:///shop?password=***&user=app");
  EXPECT_EQ(redact("postgresql://localhost/shop?user=app&PASSWORD=secret"),
            "postgresql://localhost/shop?user=app&PASSWORD=***");
  EXPECT_EQ(redact("postgresql://app:one@h/d?sslpassword=two"), "postgresql://app:***@h/d?sslpassword=***");
}

TEST(Redact, HidesInKeyValueText) {
  EXPECT_EQ(redact("host=localhost password=secret user=app"), "host=localhost password=*** user=app");
  EXPECT_EQ(redact("password = 'se cr\\'et' user=app"), "password = *** user=app");
  EXPECT_EQ(redact("password=se\\ cret&more user=app"), "password=*** user=app");
  EXPECT_EQ(redact("user=app password=a://b"), "user=app password=***");
  EXPECT_EQ(redact("password='never closed"), "password=***");
}

// What people write who did not escape the password: nothing of it may be left.
TEST(Redact, HidesUnescapedPasswords) {
  for (const auto* url :
       {"postgresql://app:s3cr/et@host/db", "postgresql://app:s3cr@et@host/db", "postgresql://app:s3cr?et@host/db",
        "postgresql://app:s3cr#et@host/db", "postgresql://app:s3cr:et@host/db", "postgresql://app:s3cr@et?x@host/db"}) {
    const auto shown = redact(url);
    EXPECT_EQ(shown, "postgresql://app:***@host/db") << url;
  }
}

}  // namespace

}  // namespace sluice::format
