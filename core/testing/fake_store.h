// A checkpoint store in memory, for tests. It outlives the processes that a test simulates.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <mutex>
#include <string>

#include "core/api/checkpoint.h"
#include "core/model/error.h"

namespace sluice::testing {

// What the processes of a job share.
class FakeShelf {
 public:
  std::mutex mutex;
  Generation generation{};
  std::map<std::size_t, Checkpoint> checkpoints;
};

// One process's view of it. `around` runs each call that may fail, with its name.
class FakeStore final : public CheckpointStore {
 public:
  using Around = std::function<void(const std::string& name, const std::function<void()>& call)>;

  explicit FakeStore(
      FakeShelf& shelf, Around around = [](const std::string&, const std::function<void()>& call) { call(); })
      : shelf_(shelf), around_(std::move(around)) {}

  Generation raise() override {
    around_("raise the generation", [&] {
      const std::scoped_lock lock(shelf_.mutex);
      shelf_.generation = own_ = Generation{number(shelf_.generation) + 1};
    });
    return own_;
  }
  void publish(std::size_t task, const Checkpoint& checkpoint) override {
    around_("publish", [&] {
      const std::scoped_lock lock(shelf_.mutex);
      if (shelf_.generation != own_) throw Error(Fault::fenced, "another process has started since");
      shelf_.checkpoints[task] = checkpoint;
    });
  }
  std::map<std::size_t, Checkpoint> newest() const override {
    const std::scoped_lock lock(shelf_.mutex);
    return shelf_.checkpoints;
  }
  std::string name() const override { return "memory"; }

 private:
  FakeShelf& shelf_;
  Around around_;
  Generation own_{};
};

}  // namespace sluice::testing
