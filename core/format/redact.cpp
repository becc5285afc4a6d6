#include "core/format/redact.h"

#include <algorithm>
#include <cctype>
#include <string_view>

namespace sluice::format {

namespace {

constexpr std::string_view hidden = "***";
constexpr auto nowhere = std::string::npos;

bool is_space(char c) {
  return std::isspace(static_cast<unsigned char>(c)) != 0;
}

// "host" and "host:5432", also with a path behind; "user:secret" is none.
bool is_host(std::string_view text) {
  const auto authority = text.substr(0, text.find('/'));
  const auto colon = authority.rfind(':');
  if (colon == nowhere) return true;
  const auto port = authority.substr(colon + 1);
  return std::all_of(port.begin(), port.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// user:password@host: up to the last @, since an unescaped one in the password would end it too early.
void redact_user_info(std::string& url, std::size_t start) {
  const auto rest = std::string_view(url).substr(start);
  if (rest.starts_with('/')) return;  // no authority: a file, or a database on the local socket
  const auto end = rest.rfind('@');
  if (end == nowhere) return;
  const auto query = rest.find('?');
  const auto before_query = rest.substr(0, query);
  if (end > query && before_query.find('@') == nowhere && is_host(before_query)) return;  // the @ is in a parameter
  const auto colon = rest.substr(0, end).find(':');
  if (colon == nowhere) return;
  url.replace(start + colon + 1, end - colon - 1, hidden);
}

// Where the value that starts here ends.
std::size_t value_end(std::string_view text, std::size_t start, bool is_url) {
  if (is_url) return std::min(text.find('&', start), text.size());
  const bool quoted = start < text.size() && text[start] == '\'';
  auto at = quoted ? start + 1 : start;
  for (; at < text.size(); ++at) {
    if (text[at] == '\\') {
      ++at;
    } else if (quoted && text[at] == '\'') {
      return at + 1;
    } else if (!quoted && is_space(text[at])) {
      return at;
    }
  }
  return text.size();
}

// password=…, sslpassword=… and whatever else ends in this word.
void redact_parameters(std::string& text, bool is_url) {
  constexpr std::string_view word = "password";
  const auto same = [](char a, char b) { return std::tolower(static_cast<unsigned char>(a)) == b; };
  for (std::size_t from = 0;;) {
    const auto found =
        std::search(text.begin() + static_cast<std::ptrdiff_t>(from), text.end(), word.begin(), word.end(), same);
    if (found == text.end()) return;
    from = static_cast<std::size_t>(found - text.begin()) + word.size();
    auto at = from;
    while (at < text.size() && is_space(text[at])) ++at;
    if (at == text.size() || text[at] != '=') continue;
    ++at;
    while (!is_url && at < text.size() && is_space(text[at])) ++at;
    text.replace(at, value_end(text, at, is_url) - at, hidden);
    from = at + hidden.size();
  }
}

}  // namespace

std::string redact(const std::string& url) {
  std::string shown = url;
  const auto scheme = shown.find("://");
  const bool is_url = scheme != nowhere && shown.find_first_of(" =") > scheme;
  if (is_url) redact_user_info(shown, scheme + 3);
  redact_parameters(shown, is_url);
  return shown;
}

}  // namespace sluice::format
