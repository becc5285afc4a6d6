#include "sinks/mysql/url.h"

#include <gtest/gtest.h>

#include "core/model/error.h"

namespace sluice::mysql {
namespace {

std::string refusal(const std::string& url) {
  try {
    parse_url(url);
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

TEST(MysqlUrl, NamesWhereAndWho) {
  const Address address = parse_url("mysql://app:p%40ss%25@db.example:3307/shop?ssl-mode=required&ssl-ca=%2Fetc%2Fca");
  EXPECT_EQ(address.user, "app");
  EXPECT_EQ(address.password, "p@ss%");
  EXPECT_EQ(address.host, "db.example");
  EXPECT_EQ(address.port, 3307);
  EXPECT_EQ(address.database, "shop");
  EXPECT_EQ(address.options.at("ssl-mode"), "required");
  EXPECT_EQ(address.options.at("ssl-ca"), "/etc/ca");
  EXPECT_EQ(address.shown(), "db.example:3307/shop");
}

TEST(MysqlUrl, HasDefaults) {
  const Address address = parse_url("mariadb://root@/shop");
  EXPECT_EQ(address.host, "localhost");
  EXPECT_EQ(address.port, 3306);
  EXPECT_EQ(address.password, "");
  EXPECT_EQ(parse_url("mysql://root@[::1]:3308/shop").host, "::1");
}

TEST(MysqlUrl, SaysWhatItLacksWithoutShowingIt) {
  EXPECT_NE(refusal("mysql://app:secret@host").find("no database"), std::string::npos);
  EXPECT_NE(refusal("mysql://host/shop").find("no user"), std::string::npos);
  EXPECT_NE(refusal("mysql://app:secret@host:0/shop").find("port"), std::string::npos);
  EXPECT_NE(refusal("mysql://app:se%cret@host/shop").find("%25"), std::string::npos);
  EXPECT_NE(refusal("mysql://app:se/cret@host/shop").find("%2F"), std::string::npos);
  EXPECT_NE(refusal("mysql://app:secret@host/shop?sslmode=x").find("ssl-mode"), std::string::npos);
  EXPECT_NE(refusal("mysql://app:se?cret@host/shop").find("%3F"), std::string::npos);
  EXPECT_NE(refusal("mysql://app:secret@host/shop?ssl-mode=REQUIRED").find("verify-identity"), std::string::npos);
  EXPECT_NE(refusal("mysql://app:secret@host/shop?local-infile=off").find("local-infile"), std::string::npos);
  EXPECT_EQ(refusal("mysql://app:se?cret@host/shop").find("cret"), std::string::npos);
  for (const char* const url :
       {"mysql://app:secret@host", "mysql://app:secret@host:0/shop", "mysql://app:sec%ret@h/d"}) {
    EXPECT_EQ(refusal(url).find("sec"), std::string::npos);
  }
}

}  // namespace
}  // namespace sluice::mysql
