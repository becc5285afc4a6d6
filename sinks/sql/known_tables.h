// Which table each topic of a job goes to, by the database's own number of it: a table that was dropped and created
// again has the name of the old one, but not its rows.
#pragma once

#include <optional>
#include <string>

#include "sinks/sql/database.h"
#include "sinks/sql/session.h"

namespace sluice::sql {

class KnownTables {
 public:
  // `dialect` is borrowed.
  KnownTables(const Dialect& dialect, std::string job, std::string sink);

  // Table::id of the table that the topic went to when it was last bound; nothing: it never was.
  std::optional<std::string> find(Session& session, const std::string& topic) const;
  // Each in a transaction of the caller's, or on its own.
  void remember(Session& session, const std::string& topic, const std::string& id) const;
  void forget(Session& session, const std::string& topic) const;

 private:
  const Dialect& dialect_;
  std::string job_;
  std::string sink_;
};

}  // namespace sluice::sql
