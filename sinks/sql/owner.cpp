#include "sinks/sql/owner.h"

#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <sstream>
#include <utility>

namespace sluice::sql {

namespace {

std::string random_run() {
  std::random_device device;
  std::array<char, 17> hex{};
  std::snprintf(hex.data(), hex.size(), "%08x%08x", device(), device());
  return hex.data();
}

}  // namespace

Owner Owner::of_this_process(std::string session) {
  static const std::string run = random_run();
  std::array<char, 256> host{};
  gethostname(host.data(), host.size() - 1);
  return {host.data(), static_cast<long>(getpid()), run, std::move(session)};
}

Owner Owner::parse(const std::string& text) {
  Owner owner;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    if (word.starts_with("host=")) owner.host = word.substr(5);
    if (word.starts_with("pid=")) owner.process = std::strtol(word.c_str() + 4, nullptr, 10);
    if (word.starts_with("run=")) owner.run = word.substr(4);
    if (word.starts_with("session=")) owner.session = word.substr(8);
  }
  return owner;
}

std::string Owner::text() const {
  std::string text = "host=" + host + " pid=" + std::to_string(process) + " run=" + run;
  if (!session.empty()) text += " session=" + session;
  return text;
}

}  // namespace sluice::sql
