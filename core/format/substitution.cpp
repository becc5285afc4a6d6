#include "core/format/substitution.h"

#include <cstdlib>
#include <fstream>
#include <system_error>
#include <utility>

namespace sluice::format {

namespace {

// A password, a certificate: far below this. Keeps a wrong path from filling the memory.
constexpr std::size_t file_size_max = 1U << 20U;

void fail(Substituted& result, std::string why) {
  result.error = std::move(why);
}

void put_variable(Substituted& result, const std::string& name) {
  const char* value = name.empty() ? nullptr : std::getenv(name.c_str());
  if (value == nullptr) return fail(result, "the environment variable \"" + name + "\" is not set; export it first");
  result.text += value;
}

void put_file(Substituted& result, const std::string& name, const std::filesystem::path& folder) {
  const auto path = folder / name;  // an absolute name wins
  std::error_code error;
  if (!std::filesystem::exists(path, error)) {
    return fail(result, "the file \"" + path.string() + "\" is not there; create it or correct the path");
  }
  std::ifstream file(path, std::ios::binary);
  if (std::filesystem::is_directory(path, error) || !file) {
    return fail(result, "the file \"" + path.string() + "\" cannot be read; check its kind and its rights");
  }
  std::string content(file_size_max + 1, '\0');
  file.read(content.data(), static_cast<std::streamsize>(content.size()));
  content.resize(static_cast<std::size_t>(file.gcount()));
  if (content.size() > file_size_max) {
    return fail(result, "the file \"" + path.string() + "\" is larger than 1 MiB; is it the right one?");
  }
  if (content.ends_with('\n')) content.pop_back();
  if (content.ends_with('\r')) content.pop_back();
  result.text += content;
}

void put(Substituted& result, std::string_view inside, const std::filesystem::path& folder) {
  constexpr std::string_view variable = "env:";
  constexpr std::string_view file = "file:";
  if (inside == "topic") {
    result.text += "${topic}";
    return;
  }
  result.changed = true;
  if (inside.starts_with(variable)) return put_variable(result, std::string(inside.substr(variable.size())));
  if (inside.starts_with(file)) return put_file(result, std::string(inside.substr(file.size())), folder);
  fail(result, "${" + std::string(inside) + "} is unknown; write ${env:NAME}, ${file:PATH}, or $${ for ${ as such");
}

}  // namespace

Substituted substitute(std::string_view text, const std::filesystem::path& folder) {
  Substituted result;
  std::size_t from = 0;
  while (result.error.empty()) {
    const auto open = text.find("${", from);
    if (open == std::string_view::npos) {
      result.text += text.substr(from);
      break;
    }
    if (open > from && text[open - 1] == '$') {
      result.text += text.substr(from, open - 1 - from);
      result.text += "${";
      from = open + 2;
      continue;
    }
    result.text += text.substr(from, open - from);
    const auto close = text.find('}', open);
    if (close == std::string_view::npos) {
      fail(result, "a ${ is not closed; add the }, or write $${ for ${ as such");
      break;
    }
    put(result, text.substr(open + 2, close - open - 2), folder);
    from = close + 1;
  }
  return result;
}

}  // namespace sluice::format
