// A checkpoint of a task, and where it is kept so that another process can finish what it decided.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "core/model/ids.h"

namespace sluice {

// What a sink has handed over when it had prepared an epoch: enough to commit it from another process.
struct Committable {
  std::string sink;
  std::string transaction;  // its name on the server

  bool operator==(const Committable&) const = default;
};

struct Checkpoint {
  Epoch epoch{};
  Positions positions;  // of the splits that moved
  std::vector<Committable> committables;

  bool operator==(const Checkpoint&) const = default;
};

// Kept for one job. A checkpoint decides: once it is published, all of its committables are to be committed, by whoever
// finds it; what is prepared and in no checkpoint is to be rolled back.
// Used from any thread. Errors: retryable, fenced (another process has raised the generation since), fatal.
class CheckpointStore {
 public:
  virtual ~CheckpointStore() = default;

  // Once per process, before anything else: from now on no older process can publish. Returns this process's number,
  // which is greater than every one before.
  virtual Generation raise() = 0;

  // Durable on return. Replaces the task's last one.
  virtual void publish(std::size_t task, const Checkpoint& checkpoint) = 0;

  // The newest checkpoint of each task that ever published one.
  virtual std::map<std::size_t, Checkpoint> newest() const = 0;

  // How messages name it.
  virtual std::string name() const = 0;
};

}  // namespace sluice
