// Checkpoints as files of a directory that survives the machine's power: one folder for a job, one file for a task.
//
// The folder's name ends in the generation. Raising it renames the folder, so that a process that still believes in the
// old one finds no place to put its checkpoint: no lock is held that a stopped process could keep.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "core/api/checkpoint.h"

namespace sluice {

class CheckpointDirectory final : public CheckpointStore {
 public:
  // `directory` is made when it is missing; on a local file system: one over a network may
  // look an old name up in its cache.
  CheckpointDirectory(std::filesystem::path directory, const std::string& job);

  Generation raise() override;
  void publish(std::size_t task, const Checkpoint& checkpoint) override;
  std::map<std::size_t, Checkpoint> newest() const override;
  std::string name() const override { return directory_.string(); }

 private:
  std::filesystem::path folder(Generation generation) const;
  Generation current() const;
  void require_newest() const;  // throws fenced

  std::filesystem::path directory_;
  std::string prefix_;       // "<job>.generation-"
  Generation generation_{};  // of this process; 0: not raised
};

}  // namespace sluice
