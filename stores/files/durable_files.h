// Steps on files whose result outlives a loss of power. Stateless; used from any thread.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace sluice {

class DurableFiles {
 public:
  // `advice` ends every message: what the folder is for and how to name another one.
  explicit DurableFiles(std::string advice) : advice_(std::move(advice)) {}

  // Makes what was made, renamed or removed in the folder durable.
  void sync_folder(const std::filesystem::path& folder) const;
  // The whole text, durable, in place of what was there; its name is not.
  void write(const std::filesystem::path& path, std::string_view text) const;
  // The whole text, durable with its name, where nothing is yet. False: something is, and it was left alone.
  bool write_new(const std::filesystem::path& path, std::string_view text) const;
  // All bytes to an open file. `path` is for the message.
  void append(int file, std::string_view bytes, const std::filesystem::path& path) const;
  std::string read(const std::filesystem::path& path) const;
  // Nothing where there is no such folder; one that cannot be read is an error, never an empty one.
  std::vector<std::filesystem::path> listed(const std::filesystem::path& folder) const;
  // The folder, and those above it.
  void make_folder(const std::filesystem::path& folder) const;

  // Throws what errno says: retryable where room or the moment was wanting, else fatal.
  [[noreturn]] void fail(const std::string& what, const std::filesystem::path& path) const;

 private:
  std::string advice_;
};

}  // namespace sluice
