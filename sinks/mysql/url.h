// mysql://user:password@host:port/database?option=value, and the same with mariadb://.
#pragma once

#include <map>
#include <string>

namespace sluice::mysql {

struct Address {
  std::string user;
  std::string password;
  std::string host = "localhost";
  int port = 3306;
  std::string database;
  std::map<std::string, std::string> options;

  // host:port/database, fit for messages.
  std::string shown() const { return host + ":" + std::to_string(port) + "/" + database; }
};

// User, password, database and options may hold %XX. Throws fatal, without the URL, when a part is missing, cannot be
// read, or is an option that is not known.
Address parse_url(const std::string& url);

}  // namespace sluice::mysql
