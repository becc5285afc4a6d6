// What a SQLSTATE means to the runtime, and what of a server's message may be shown.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "core/model/error.h"

namespace sluice::postgres {

// Exact codes go before classes. An empty code stands for a connection that broke without a word from the server.
// https://www.postgresql.org/docs/current/errcodes-appendix.html
Fault classify(std::string_view sqlstate);

// The message's first line without its "ERROR:" and without values of rows: DETAIL, CONTEXT and whatever a conversion
// error quotes are left out.
std::string shown(std::string_view sqlstate, std::string_view message);

// Which row of a COPY the message's CONTEXT names ("COPY orders, line 3, column id"), from 0; nothing: none, or the
// server speaks another language.
std::optional<std::size_t> copied_row(std::string_view message);

// What a person can do about it; empty where the message says enough.
std::string_view next_step(std::string_view sqlstate);

}  // namespace sluice::postgres
