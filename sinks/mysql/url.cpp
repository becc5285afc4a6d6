#include "sinks/mysql/url.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>

#include "core/model/error.h"

namespace sluice::mysql {

namespace {

[[noreturn]] void refuse(const std::string& what) {
  throw Error(Fault::fatal, "connection.url " + what + "; write mysql://user:${env:MYSQL_PWD}@host:3306/database");
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

std::string decoded(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i];
      continue;
    }
    const int high = i + 2 < text.size() ? hex_digit(text[i + 1]) : -1;
    const int low = i + 2 < text.size() ? hex_digit(text[i + 2]) : -1;
    if (high < 0 || low < 0) refuse("holds a % that is not followed by two hexadecimal digits: write it as %25");
    out += static_cast<char>(high * 16 + low);
    i += 2;
  }
  return out;
}

std::string_view cut(std::string_view& rest, char at) {
  const auto place = rest.find(at);
  const std::string_view front = rest.substr(0, place);
  rest.remove_prefix(place == std::string_view::npos ? rest.size() : place + 1);
  return front;
}

void read_host(std::string_view text, Address& address) {
  std::string_view port;
  if (text.starts_with('[')) {  // [::1]:3306
    const auto end = text.find(']');
    if (end == std::string_view::npos) refuse("holds a [ without its ]");
    address.host = text.substr(1, end - 1);
    port = text.substr(end + 1);
    if (port.starts_with(':')) port.remove_prefix(1);
  } else {
    if (const auto host = cut(text, ':'); !host.empty()) address.host = host;
    port = text;
  }
  if (port.empty()) return;
  const auto read = std::from_chars(port.data(), port.data() + port.size(), address.port);
  if (read.ec != std::errc() || read.ptr != port.data() + port.size() || address.port <= 0 || address.port > 65535) {
    refuse("names a port that is no number from 1 to 65535");
  }
}

struct Option {
  std::string_view name;
  std::string_view values;  // with a blank around each; empty: any
};

constexpr auto known_options = std::to_array<Option>({{"local-infile", " 0 1 "},
                                                      {"socket", ""},
                                                      {"ssl-ca", ""},
                                                      {"ssl-cert", ""},
                                                      {"ssl-key", ""},
                                                      {"ssl-mode", " required verify-identity "}});

// What is not known is not shown: it may be the rest of a password with a ? in it.
void read_options(std::string_view text, Address& address) {
  if (text.find('@') != std::string_view::npos) {
    refuse("holds a character in user or password that must be escaped: ? is %3F, @ is %40");
  }
  while (!text.empty()) {
    std::string_view pair = cut(text, '&');
    const std::string name(cut(pair, '='));
    const auto* const option =
        std::find_if(known_options.begin(), known_options.end(), [&](const Option& o) { return o.name == name; });
    if (option == known_options.end()) {
      refuse("has an option that is none of local-infile, socket, ssl-ca, ssl-cert, ssl-key, ssl-mode");
    }
    const std::string value = decoded(pair);
    if (!option->values.empty() && option->values.find(" " + value + " ") == std::string_view::npos) {
      refuse("has a value for " + name + " that is none of:" + std::string(option->values));
    }
    address.options[name] = value;
  }
}

}  // namespace

Address parse_url(const std::string& url) {
  std::string_view rest = url;
  const auto scheme = rest.find("://");
  if (scheme == std::string_view::npos) refuse("has no ://");
  rest.remove_prefix(scheme + 3);
  Address address;
  std::string_view options = rest;
  rest = cut(options, '?');
  read_options(options, address);
  const auto at = rest.rfind('@');
  std::string_view user = at == std::string_view::npos ? std::string_view() : rest.substr(0, at);
  if (at != std::string_view::npos) rest.remove_prefix(at + 1);
  if (user.find_first_of("/@#") != std::string_view::npos) {
    refuse("holds a character in user or password that must be escaped: @ is %40, / is %2F, # is %23, ? is %3F");
  }
  address.user = decoded(cut(user, ':'));
  address.password = decoded(user);
  read_host(cut(rest, '/'), address);
  address.database = decoded(rest);
  if (address.user.empty()) refuse("names no user");
  if (address.database.empty()) refuse("names no database");
  return address;
}

}  // namespace sluice::mysql
