// One connection to MySQL or MariaDB through Connector/C++. Internal to this folder: it shows the client's types to the
// loaders.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include <cppconn/connection.h>
#include <cppconn/statement.h>

#include "core/model/error.h"
#include "sinks/mysql/dialect.h"
#include "sinks/mysql/url.h"
#include "sinks/sql/session.h"

namespace sluice::mysql {

struct Timeouts {
  std::chrono::seconds lock{30};
  std::chrono::seconds answer{150};               // the server says nothing for so long: the session is given up
  std::chrono::seconds idle_in_transaction{120};  // the client says nothing for so long: the server rolls back
};

struct Server {
  Flavour flavour = Flavour::mysql;
  int version = 0;             // 80029 is 8.0.29
  bool local_infile = false;   // LOAD DATA LOCAL is allowed
  std::size_t packet_max = 0;  // bytes of one statement
};

class MysqlSession final : public sql::Session {
 public:
  MysqlSession(const Address& address, const Timeouts& timeouts);
  ~MysqlSession() override;

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
  std::string id() const override { return lock_name_; }
  bool end_session(const std::string& id) override;

  const Server& server() const { return server_; }

  // As they are, without arguments. From any thread, while nobody else uses the session.
  std::uint64_t run(const std::string& sql);
  // The first warning of the last statement as the Error that it would have been in a statement of its own; nothing:
  // there was none. The row that it names, where it does, counts from 0.
  struct Warning {
    Error error;
    std::optional<std::size_t> row;
  };
  std::optional<Warning> first_warning();

 private:
  void set_up();
  void expect_silence(std::chrono::seconds limit);
  bool finish_prepared(const std::string& verb, const std::string& name);

  Timeouts timeouts_;
  Server server_;
  std::unique_ptr<::sql::Connection> connection_;
  std::unique_ptr<::sql::Statement> statement_;
  std::string lock_name_;
  bool open_ = false;
  std::string branch_;  // of the open transaction, as XA writes it; empty: a plain one
};

}  // namespace sluice::mysql
