// Escapes inside JSON strings.
#pragma once

#include <cstddef>
#include <string_view>

namespace sluice {

// Writes what `raw`, the text between the quotes, stands for to `out`, which has room for raw.size() bytes (the result
// is never longer), and its length to `length`. False for an escape that JSON does not know, and for half a surrogate
// pair: it is no character, so that no UTF-8 text can hold it.
bool unescape_json(std::string_view raw, char* out, std::size_t& length);

}  // namespace sluice
