// What the server's error numbers mean for the runtime. Pure: one table, from the manuals of MySQL and MariaDB.
#pragma once

#include <string>
#include <string_view>

#include "core/model/error.h"

namespace sluice::mysql {

// https://dev.mysql.com/doc/mysql-errors/9.7/en/server-error-reference.html,
// https://mariadb.com/kb/en/mariadb-error-codes/ A number that neither names is judged by its SQLSTATE.
Fault classify(int number, std::string_view sqlstate);

// Whether the session is gone with it: what was asked last may have happened all the same.
bool is_connection_loss(int number);

// What the user can do about it; empty where that is not known.
std::string_view next_step(int number);

// Whether a rule of the database (a key, a reference, a check, a trigger) was broken.
bool is_rule(int number, std::string_view sqlstate);

// The message without the values that the servers quote in some of them.
std::string shown(int number, std::string_view sqlstate, std::string_view message);

}  // namespace sluice::mysql
