// MySQL and MariaDB as a target: what the two say differently is found out at the connection.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "sinks/mysql/dialect.h"
#include "sinks/mysql/url.h"
#include "sinks/sql/database.h"

namespace sluice::mysql {

struct MysqlConfig {
  std::string connection_url;
  // How long an answer may take before the session is given up: of the client's socket.
  std::chrono::seconds answer_timeout{150};
};

class MysqlDatabase final : public sql::Database {
 public:
  // Throws fatal when the URL cannot be read.
  explicit MysqlDatabase(const MysqlConfig& config);

  const sql::Dialect& dialect() const override { return dialect_; }
  std::string name() const override;
  std::span<const sql::Migration> migrations() const override;
  std::unique_ptr<sql::Session> connect() override;
  std::optional<sql::Table> describe(sql::Session& session, const std::string& table) override;
  std::string name_to_create(sql::Session& session, const std::string& table) override;
  std::unique_ptr<sql::RowLoader> loader(sql::Session& session, const sql::LoadPlan& plan) override;
  Findings inspect(sql::Session& session, const sql::InspectionSubject& subject) override;
  std::string two_phase_obstacle(sql::Session& session) override;
  std::string transaction_prefix(const std::string& job, const std::string& sink) const override;
  std::size_t writers_max() const override;

 private:
  MysqlDialect dialect_;
  Address address_;
  std::chrono::seconds answer_timeout_;
  std::atomic<Flavour> flavour_;  // what the URL says until the first connect() has seen the server
};

}  // namespace sluice::mysql
