#include "sinks/sql/table.h"

#include <algorithm>

#include "core/model/error.h"
#include "sinks/sql/database.h"

namespace sluice::sql {

const Column* Table::find(const std::string& column) const {
  const auto found = std::find_if(columns.begin(), columns.end(), [&](const Column& c) { return c.name == column; });
  return found == columns.end() ? nullptr : &*found;
}

std::string Database::name_to_create(Session&, const std::string& table) {
  return dialect().quote(table);
}

std::string Database::two_phase_obstacle(Session&) {
  return name() + " cannot prepare transactions: set \"commit.protocol\" to ledger, which is exactly-once there";
}

std::string Database::transaction_prefix(const std::string& job, const std::string& sink) const {
  return "sluice/" + job + "/" + sink + "/";
}

namespace {

[[noreturn]] void refuse_two_phases() {
  throw Error(Fault::fatal, "internal: this database cannot prepare transactions");
}

}  // namespace

void Session::begin_named(const std::string&) {
  refuse_two_phases();
}

void Session::prepare_transaction(const std::string&) {
  refuse_two_phases();
}

bool Session::commit_prepared(const std::string&) {
  refuse_two_phases();
}

bool Session::rollback_prepared(const std::string&) {
  refuse_two_phases();
}

std::vector<PreparedTransaction> Session::prepared_transactions() {
  return {};
}

}  // namespace sluice::sql
