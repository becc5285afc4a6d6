// Who holds a split, as the ledger's `owner` column says it: "host=db1 pid=4711 session=815@1764441234.5".
#pragma once

#include <string>

namespace sluice::sql {

struct Owner {
  std::string host;
  long process = 0;
  std::string session;  // Session::id() of the writer

  static Owner of_this_process(std::string session);
  static Owner parse(const std::string& text);
  std::string text() const;
};

}  // namespace sluice::sql
