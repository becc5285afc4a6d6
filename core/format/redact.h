// How connection URLs are shown to people.
#pragma once

#include <string>

namespace sluice::format {

// The URL, or libpq's key=value text, with each password replaced by ***. Where a URL is not well-formed (an @ or / in
// a password that was not escaped) it hides more rather than less.
std::string redact(const std::string& url);

}  // namespace sluice::format
