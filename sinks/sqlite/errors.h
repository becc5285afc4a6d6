// From SQLite's result codes to what the runtime must do. Pure functions.
#pragma once

#include <string>
#include <string_view>

#include "core/model/error.h"

namespace sluice::sqlite {

// `code` is an extended result code; one that this build does not know is judged by its primary code.
Fault classify(int code);

// "SQLITE_CONSTRAINT_UNIQUE"; for a code without a name here that of its primary code.
std::string code_name(int code);

// `action` says what was tried, `path` names the database, `detail` is SQLite's own message, which names tables,
// columns and constraints but no values.
Error error_of(int code, std::string_view action, std::string_view path, std::string_view detail);

}  // namespace sluice::sqlite
