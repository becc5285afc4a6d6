// ${env:NAME} and ${file:PATH} in the strings of a job file, so that secrets need not stand in it.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace sluice::format {

struct Substituted {
  std::string text;      // may hold secrets
  bool changed = false;  // a variable or file was put in
  std::string error;     // why it could not be done and what to do; holds no value. Empty: done
};

// $${ stands for ${ as such; ${topic} is left for whoever names tables. Relative paths start at `folder`; a file's last
// line break is dropped. What is put in is not looked at again.
Substituted substitute(std::string_view text, const std::filesystem::path& folder);

}  // namespace sluice::format
