#include "app/slot.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <random>
#include <system_error>

#include "core/model/error.h"

namespace sluice::app {

namespace {

constexpr int slots_max = 1024;
constexpr std::size_t identity_length = 12;

[[noreturn]] void fail(const std::filesystem::path& path, int error) {
  throw Error(Fault::fatal, "cannot use " + path.string() + " for the state of the job: " + std::strerror(error) +
                                ". Make it writable, or name another place in \"checkpoint.directory\"");
}

std::string random_identity() {
  static constexpr std::string_view letters = "0123456789abcdefghijklmnopqrstuvwxyz";
  std::random_device device;
  std::uniform_int_distribution<std::size_t> pick(0, letters.size() - 1);
  std::string identity;
  while (identity.size() < identity_length) identity += letters[pick(device)];
  return identity;
}

int open_file(const std::filesystem::path& path) {
  const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (file < 0) fail(path, errno);
  return file;
}

// Made once for each directory, under a lock, so that two first starts agree.
std::string identity_of(const std::filesystem::path& directory) {
  const auto path = directory / "identity";
  const int file = open_file(path);
  if (::flock(file, LOCK_EX) != 0) fail(path, errno);
  std::array<char, identity_length> text{};
  const ssize_t size = ::pread(file, text.data(), text.size(), 0);
  std::string identity(text.data(), size > 0 ? static_cast<std::size_t>(size) : 0);
  if (identity.size() < identity_length) {
    identity = random_identity();
    const bool written = ::pwrite(file, identity.data(), identity.size(), 0) == static_cast<ssize_t>(identity.size());
    if (!written || ::fsync(file) != 0) fail(path, errno);
  }
  ::close(file);
  return identity;
}

}  // namespace

Slot::Slot(const std::filesystem::path& state_directory, const std::string& job) {
  const auto directory = state_directory / job;
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (error) fail(directory, error.value());
  const std::string identity = identity_of(directory);
  for (int number = 0; number < slots_max; ++number) {
    const int file = open_file(directory / ("slot-" + std::to_string(number)));
    if (::flock(file, LOCK_EX | LOCK_NB) == 0) {
      lock_ = file;
      name_ = "sluice-" + job + "-" + identity + "-" + std::to_string(number);
      return;
    }
    ::close(file);
  }
  throw Error(Fault::fatal, "all " + std::to_string(slots_max) + " slots in " + directory.string() + " are taken");
}

Slot::~Slot() {
  if (lock_ >= 0) ::close(lock_);
}

}  // namespace sluice::app
