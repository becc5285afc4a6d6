// PostgreSQL as a database for the SQL sink.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "sinks/postgres/dialect.h"
#include "sinks/sql/database.h"

namespace sluice::postgres {

struct PostgresConfig {
  std::string connection_url;                            // postgresql://..., as libpq reads it
  std::string application_name = "sluice";               // how the server's own views name the sessions
  std::chrono::milliseconds statement_timeout{600'000};  // longer than any epoch: COPY is one statement
};

class PostgresDatabase final : public sql::Database {
 public:
  explicit PostgresDatabase(PostgresConfig config);

  const sql::Dialect& dialect() const override { return dialect_; }
  std::string name() const override;
  std::span<const sql::Migration> migrations() const override;
  std::unique_ptr<sql::Session> connect() override;
  std::optional<sql::Table> describe(sql::Session& session, const std::string& table) override;
  std::string name_to_create(sql::Session& session, const std::string& table) override;
  std::unique_ptr<sql::RowLoader> loader(sql::Session& session, const sql::LoadPlan& plan) override;
  Findings inspect(sql::Session& session, const sql::InspectionSubject& subject) override;
  std::string two_phase_obstacle(sql::Session& session) override;
  std::size_t writers_max() const override;

 private:
  PostgresConfig config_;
  PostgresDialect dialect_;
};

}  // namespace sluice::postgres
