#include "stores/files/durable_files.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

#include "core/model/error.h"

namespace sluice {

namespace fs = std::filesystem;

namespace {

// An open file; closed at the end of its scope.
class Descriptor {
 public:
  explicit Descriptor(int file) : file_(file) {}
  ~Descriptor() {
    if (file_ >= 0) ::close(file_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return file_; }

 private:
  int file_;
};

}  // namespace

void DurableFiles::fail(const std::string& what, const fs::path& path) const {
  const int code = errno;
  const bool passes = code == ENOSPC || code == EDQUOT || code == EINTR;
  throw Error(passes ? Fault::retryable : Fault::fatal,
              "cannot " + what + " " + path.string() + ": " + std::strerror(code) + ". " + advice_);
}

void DurableFiles::sync_folder(const fs::path& folder) const {
  const Descriptor file(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (file.get() < 0) fail("open", folder);
  if (::fsync(file.get()) != 0) fail("sync", folder);
}

void DurableFiles::append(int file, std::string_view rest, const fs::path& path) const {
  while (!rest.empty()) {
    const auto count = ::write(file, rest.data(), rest.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail("write", path);
    rest.remove_prefix(static_cast<std::size_t>(count));
  }
}

void DurableFiles::write(const fs::path& path, std::string_view text) const {
  const Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  if (file.get() < 0) fail("create", path);
  append(file.get(), text, path);
  if (::fsync(file.get()) != 0) fail("sync", path);
}

bool DurableFiles::write_new(const fs::path& path, std::string_view text) const {
  const fs::path draft = path.string() + ".unfinished";
  write(draft, text);
  const bool linked = ::link(draft.c_str(), path.c_str()) == 0;
  const int code = errno;
  ::unlink(draft.c_str());
  errno = code;
  if (!linked && code == EEXIST) return false;
  if (!linked) fail("create", path);
  sync_folder(path.has_parent_path() ? path.parent_path() : fs::path("."));
  return true;
}

std::string DurableFiles::read(const fs::path& path) const {
  std::ifstream in(path, std::ios::binary);
  if (!in) fail("read", path);
  std::stringstream text;
  text << in.rdbuf();
  return std::move(text).str();
}

std::vector<fs::path> DurableFiles::listed(const fs::path& folder) const {
  std::vector<fs::path> found;
  std::error_code error;
  fs::directory_iterator entries(folder, error);
  for (; !error && entries != fs::directory_iterator(); entries.increment(error)) found.push_back(entries->path());
  if (!error || error == std::errc::no_such_file_or_directory) return found;
  errno = error.value();
  fail("list", folder);
}

void DurableFiles::make_folder(const fs::path& folder) const {
  std::error_code error;
  fs::create_directories(folder, error);
  if (!error) return;
  errno = error.value();
  fail("make", folder);
}

}  // namespace sluice
