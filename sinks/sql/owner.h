// Who holds a split, as the ledger's `owner` column says it: "host=db1 pid=4711 run=9f2c41d07a6b35e8
// session=815@1764441234.5".
#pragma once

#include <string>

namespace sluice::sql {

struct Owner {
  std::string host;
  long process = 0;
  std::string
      run;  // random, the same in all of a process's owners: process ids are used again, and 1 in every container
  std::string session;  // Session::id() of the writer

  static Owner of_this_process(std::string session);
  static Owner parse(const std::string& text);
  std::string text() const;
};

}  // namespace sluice::sql
