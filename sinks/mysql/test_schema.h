// A database of its own for each test on the servers that SLUICE_TEST_MYSQL_URL and SLUICE_TEST_MARIADB_URL name
// (mysql://user@host:port/database, without options). For tests only.
#pragma once

#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <string>

#include "core/model/error.h"
#include "sinks/mysql/mysql_database.h"

namespace sluice::mysql {

struct TestServer {
  std::string variable;
  std::string url;  // empty: there is no server to test with

  static TestServer mysql() { return from("SLUICE_TEST_MYSQL_URL"); }
  static TestServer mariadb() { return from("SLUICE_TEST_MARIADB_URL"); }

 private:
  static TestServer from(const char* variable) {
    const char* const url = std::getenv(variable);
    return {variable, url == nullptr ? "" : url};
  }
};

class TestSchema {
 public:
  explicit TestSchema(const TestServer& server, std::string options = {})
      : server_(server),
        options_(std::move(options)),
        name_("test_" + std::to_string(getpid()) + "_" + std::to_string(++count_)) {
    MysqlDatabase(MysqlConfig{server_.url}).connect()->execute("CREATE DATABASE " + name_);
  }
  ~TestSchema() {
    try {
      MysqlDatabase(MysqlConfig{server_.url}).connect()->execute("DROP DATABASE " + name_);
    } catch (const Error&) {
      // Nobody minds a database that is left over on a test server.
    }
  }
  TestSchema(const TestSchema&) = delete;
  TestSchema& operator=(const TestSchema&) = delete;

  std::string url() const { return server_.url.substr(0, server_.url.rfind('/') + 1) + name_ + options_; }

 private:
  static inline std::atomic<int> count_{0};
  TestServer server_;
  std::string options_;
  std::string name_;
};

}  // namespace sluice::mysql
