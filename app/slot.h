// A process's place in the consumer group, kept over kill -9: a lock in the state directory gives out the lowest free
// number, and the kernel frees it with the process. The next process on this host gets the same number, joins as the
// same static member and goes on at once instead of waiting for the session of the dead one.
#pragma once

#include <filesystem>
#include <string>

namespace sluice::app {

class Slot {
 public:
  // Locks the lowest free slot of the job. Throws Error(fatal) when the directory cannot be made or written.
  Slot(const std::filesystem::path& state_directory, const std::string& job);
  ~Slot();
  Slot(const Slot&) = delete;
  Slot& operator=(const Slot&) = delete;

  // "sluice-<job>-<identity of the directory>-<number>": two directories, on whatever hosts, never give out the same.
  const std::string& name() const { return name_; }

 private:
  std::string name_;
  int lock_ = -1;
};

}  // namespace sluice::app
