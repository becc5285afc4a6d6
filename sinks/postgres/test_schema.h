// A schema of its own for each test on the server that SLUICE_TEST_POSTGRES_URL names. For tests only.
#pragma once

#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <string>

#include "core/model/error.h"
#include "sinks/postgres/postgres_database.h"

namespace sluice::postgres {

class TestSchema {
 public:
  // Empty where there is no server to test with.
  static std::string server_url() {
    const char* const url = std::getenv("SLUICE_TEST_POSTGRES_URL");
    return url == nullptr ? "" : url;
  }

  TestSchema() : name_("test_" + std::to_string(getpid()) + "_" + std::to_string(++count_)) {
    PostgresDatabase(PostgresConfig{server_url()}).connect()->execute("CREATE SCHEMA " + name_);
  }
  ~TestSchema() {
    try {
      PostgresDatabase(PostgresConfig{server_url()}).connect()->execute("DROP SCHEMA " + name_ + " CASCADE");
    } catch (const Error&) {
      // Nobody minds a schema that is left over on a test server.
    }
  }
  TestSchema(const TestSchema&) = delete;
  TestSchema& operator=(const TestSchema&) = delete;

  const std::string& name() const { return name_; }
  std::string url() const {
    const std::string server = server_url();
    return server + (server.find('?') == std::string::npos ? "?" : "&") + "options=-csearch_path%3D" + name_;
  }
  PostgresConfig config() const { return PostgresConfig{url()}; }

 private:
  static inline std::atomic<int> count_{0};
  std::string name_;
};

}  // namespace sluice::postgres
