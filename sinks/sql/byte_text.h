// Small texts with a grammar of their own: base64, UUIDs, escapes in JSON. Pure functions.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace sluice::sql {

// Two lower-case digits a byte.
void append_hex(std::string_view bytes, std::string& out);

// Strict: the standard alphabet, full padding, no blanks, no stray bits. `out` is overwritten; false leaves it
// undefined.
bool decode_base64(std::string_view text, std::string& out);

constexpr std::size_t kUuidSize = 36;
// Writes 8-4-4-4-12 with the digits as they were to `out`; false when the text is no UUID in that form or without
// hyphens.
bool canonical_uuid(std::string_view text, char* out);

// Does JSON text hold the escape \u0000? An escaped backslash before u0000 does not count.
bool has_nul_escape(std::string_view json);

}  // namespace sluice::sql
