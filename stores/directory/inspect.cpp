#include "stores/directory/inspect.h"

#include <linux/magic.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

namespace sluice {

namespace fs = std::filesystem;

namespace {

constexpr long cifs_magic = 0xFF534D42;
constexpr long smb2_magic = 0xFE534D42;
constexpr long fuse_magic = 0x65735546;

fs::path nearest_existing(fs::path path) {
  std::error_code error;
  path = fs::absolute(path, error);
  while (!fs::exists(path, error) && path.has_parent_path() && path != path.parent_path()) path = path.parent_path();
  return path;
}

}  // namespace

Findings inspect_directory(const fs::path& directory, bool must_survive) {
  const std::string next_step = "name another one with \"checkpoint.directory\"";
  const fs::path place = nearest_existing(directory);
  std::error_code error;
  if (!fs::is_directory(place, error)) {
    return {{Severity::problem, place.string() + " is no directory", next_step}};
  }
  if (::access(place.c_str(), W_OK | X_OK) != 0) {
    return {{Severity::problem, place.string() + " cannot be written: " + std::strerror(errno),
             "give this user the right to, or " + next_step}};
  }
  struct statfs about {};
  if (::statfs(place.c_str(), &about) != 0) {
    return {{Severity::warning, place.string() + " cannot be looked at: " + std::strerror(errno), {}}};
  }
  const auto type = static_cast<long>(about.f_type);
  if (type == TMPFS_MAGIC || type == RAMFS_MAGIC) {
    return {{must_survive ? Severity::problem : Severity::warning,
             directory.string() + " is in memory: a restart of this machine empties it", next_step}};
  }
  if (type == NFS_SUPER_MAGIC || type == SMB_SUPER_MAGIC || type == cifs_magic || type == smb2_magic ||
      type == fuse_magic) {
    return {{Severity::warning,
             directory.string() + " is on a file system over a network, where locks and renames may be seen late",
             "name a local directory"}};
  }
  return {{Severity::ok, directory.string() + " can be written", {}}};
}

}  // namespace sluice
