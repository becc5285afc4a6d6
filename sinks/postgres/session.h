// One connection to PostgreSQL through libpqxx. Internal to this folder: it shows the client's types to the loaders.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include <pqxx/pqxx>

#include "sinks/sql/session.h"

namespace sluice::postgres {

// Set for each transaction and not for the session, so that a pooler that hands the connection on leaks nothing.
struct Timeouts {
  std::chrono::milliseconds lock{30'000};
  std::chrono::milliseconds statement{600'000};
  std::chrono::milliseconds idle_in_transaction{120'000};
};

class PostgresSession final : public sql::Session {
 public:
  PostgresSession(const std::string& connection_string, const Timeouts& timeouts);
  ~PostgresSession() override;

  void begin() override;
  void commit() override;
  void rollback() noexcept override;
  std::uint64_t execute(const std::string& sql, std::span<const Value> arguments) override;
  std::vector<sql::Row> query(const std::string& sql, std::span<const Value> arguments) override;
  using sql::Session::execute;
  using sql::Session::query;
  void begin_named(const std::string& name) override;
  void prepare_transaction(const std::string& name) override;
  bool commit_prepared(const std::string& name) override;
  bool rollback_prepared(const std::string& name) override;
  std::vector<sql::PreparedTransaction> prepared_transactions() override;
  void interrupt() noexcept override;
  std::string id() const override { return id_; }
  bool end_session(const std::string& id) override;
  int port() const;  // that was connected to

  // The open transaction. A loader may use it from another thread as long as nobody else does.
  pqxx::work& transaction();

 private:
  pqxx::result run(const std::string& sql, std::span<const Value> arguments);
  bool finish_prepared(const char* verb, const std::string& name);

  std::unique_ptr<pqxx::connection> connection_;
  std::unique_ptr<pqxx::work> transaction_;
  int socket_ = -1;  // a duplicate, so that interrupt() never meets one that was closed meanwhile
  std::string begin_settings_;
  std::string id_;
};

// Runs a statement with arguments in their text form, each a std::string or std::optional<std::string>.
template <class Arguments>
pqxx::result execute(pqxx::transaction_base& on, const std::string& sql, const Arguments& arguments) {
#if PQXX_VERSION_MAJOR < 7
  return on.exec_params(sql, pqxx::prepare::make_dynamic_params(arguments.begin(), arguments.end()));
#else
  pqxx::params params;
  for (const auto& argument : arguments) params.append(argument);
  return on.exec_params(sql, params);
#endif
}

// Runs `work` and turns what libpqxx throws into an Error.
void translated(const std::function<void()>& work);

}  // namespace sluice::postgres
