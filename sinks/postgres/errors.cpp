#include "sinks/postgres/errors.h"

#include <array>
#include <charconv>
#include <utility>

namespace sluice::postgres {

namespace {

struct Rule {
  std::string_view prefix;  // five characters: one code; fewer: a class
  Fault fault;
  std::string_view next_step;
};

// The first rule that fits holds.
constexpr std::array<Rule, 36> rules{{
    {"53100", Fault::retryable, "free space on the server's disk"},
    {"53300", Fault::retryable, "raise max_connections or lower the number of clients"},
    {"53", Fault::retryable, ""},
    {"57014", Fault::retryable, "the server was too slow or somebody cancelled the statement"},
    {"57P04", Fault::fatal, "the database was dropped"},
    {"57", Fault::retryable, ""},
    {"58", Fault::retryable, "look at the server's log"},
    {"08P01", Fault::fatal, ""},
    {"08", Fault::retryable, ""},
    {"25006", Fault::retryable, "the server is read-only: connect to the primary (target_session_attrs=read-write)"},
    {"25P03", Fault::retryable, ""},
    {"25P02", Fault::retryable, ""},
    {"40", Fault::retryable, ""},
    {"55P03", Fault::retryable, "another session holds the lock"},
    {"55006", Fault::retryable, ""},
    {"55000", Fault::retryable, "if max_prepared_transactions is 0: raise it and start the server again"},
    {"42710", Fault::retryable, "a transaction of that name is prepared already"},
    {"21000", Fault::bad_record, ""},
    {"22", Fault::bad_record, ""},
    {"23", Fault::bad_record, ""},
    {"44000", Fault::bad_record, ""},
    {"54", Fault::bad_record, ""},
    {"P0001", Fault::bad_record, ""},
    {"P0004", Fault::bad_record, ""},
    {"28P01", Fault::fatal, "mend user or password in connection.url"},
    {"28000", Fault::fatal, "mend the user in connection.url or the server's pg_hba.conf"},
    {"3D000", Fault::fatal, "create the database or mend connection.url"},
    {"3F000", Fault::fatal, "create the schema or mend search_path"},
    {"42501", Fault::fatal, "GRANT the right to the job's user"},
    {"42P01", Fault::fatal, "create the table, or set \"auto.create\": true"},
    {"42703", Fault::fatal,
     "the table was altered while the job ran: restore the column or mend \"columns\", then start again"},
    {"42P10", Fault::fatal, "create a unique index on the columns of \"pk.fields\""},
    {"428C9", Fault::fatal, "the column is generated: take it out of \"columns\""},
    {"42", Fault::fatal, ""},
    {"0A", Fault::fatal, ""},
    {"XX", Fault::fatal, "look at the server's log"},
}};

const Rule* rule_for(std::string_view sqlstate) {
  for (const Rule& rule : rules) {
    if (sqlstate.starts_with(rule.prefix)) return &rule;
  }
  return nullptr;
}

}  // namespace

Fault classify(std::string_view sqlstate) {
  if (sqlstate.empty()) return Fault::retryable;
  const Rule* const rule = rule_for(sqlstate);
  return rule == nullptr ? Fault::fatal : rule->fault;
}

std::string_view next_step(std::string_view sqlstate) {
  const Rule* const rule = sqlstate.empty() ? nullptr : rule_for(sqlstate);
  return rule == nullptr ? std::string_view() : rule->next_step;
}

std::optional<std::size_t> copied_row(std::string_view message) {
  constexpr std::string_view before = ", line ";
  const auto context = message.find("CONTEXT:  COPY ");
  const auto at = message.find(before, context == std::string_view::npos ? message.size() : context);
  if (at == std::string_view::npos) return std::nullopt;
  std::size_t line = 0;
  const char* const digits = message.data() + at + before.size();
  const auto parsed = std::from_chars(digits, message.data() + message.size(), line);
  if (parsed.ec != std::errc() || line == 0) return std::nullopt;
  return line - 1;
}

std::string shown(std::string_view sqlstate, std::string_view message) {
  if (sqlstate == "P0001") return "a trigger or function of the database refused the row";
  message = message.substr(0, message.find('\n'));
  for (const std::string_view severity : {"ERROR:  ", "FATAL:  ", "PANIC:  "}) {
    if (message.starts_with(severity)) message.remove_prefix(severity.size());
  }
  if (sqlstate.starts_with("22")) {  // 'invalid input syntax for type integer: "4711"'
    message = message.substr(0, message.find(": \""));
    message = message.substr(0, message.find(" \""));
  }
  return std::string(message);
}

}  // namespace sluice::postgres
