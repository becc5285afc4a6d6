// SQLite's handles as owners. Only for .cpp files and headers of this folder that no other folder includes.
#pragma once

#include <sqlite3.h>

#include <memory>

namespace sluice::sqlite {

struct CloseConnection {
  void operator()(sqlite3* connection) const noexcept { sqlite3_close_v2(connection); }
};
using Connection = std::unique_ptr<sqlite3, CloseConnection>;

struct FinalizeStatement {
  void operator()(sqlite3_stmt* statement) const noexcept { sqlite3_finalize(statement); }
};
using Statement = std::unique_ptr<sqlite3_stmt, FinalizeStatement>;

}  // namespace sluice::sqlite
