#include "stores/directory/checkpoint_directory.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "core/model/error.h"

namespace sluice {
namespace {

class CheckpointDirectoryTest : public ::testing::Test {
 protected:
  ~CheckpointDirectoryTest() override { std::filesystem::remove_all(folder_); }

  static Checkpoint checkpoint(std::int64_t position) {
    return {Epoch{7}, {{Split{"orders", 2}, position}}, {{"main", "sluice/job/main/0/1/9"}}};
  }
  static Fault fault_of(const std::function<void()>& action) {
    try {
      action();
    } catch (const Error& error) {
      return error.fault();
    }
    ADD_FAILURE() << "nothing was thrown";
    return Fault::fatal;
  }

  std::filesystem::path folder_ = std::filesystem::temp_directory_path() / ("sluice-store-" + std::to_string(getpid()));
};

TEST_F(CheckpointDirectoryTest, KeepsTheNewestOfEachTask) {
  CheckpointDirectory store(folder_, "job");
  EXPECT_EQ(store.raise(), Generation{1});
  EXPECT_TRUE(store.newest().empty());
  store.publish(0, checkpoint(5));
  store.publish(1, checkpoint(6));
  store.publish(0, checkpoint(8));
  EXPECT_EQ(store.newest(), (std::map<std::size_t, Checkpoint>{{0, checkpoint(8)}, {1, checkpoint(6)}}));
}

TEST_F(CheckpointDirectoryTest, TheNextProcessFindsItAndTheLastOneIsFenced) {
  CheckpointDirectory before(folder_, "job");
  before.raise();
  before.publish(0, checkpoint(5));
  CheckpointDirectory after(folder_, "job");
  EXPECT_EQ(after.raise(), Generation{2});
  EXPECT_EQ(after.newest().at(0), checkpoint(5));
  EXPECT_EQ(fault_of([&] { before.publish(0, checkpoint(9)); }), Fault::fenced);
  EXPECT_EQ(fault_of([&] { before.newest(); }), Fault::fenced);
  EXPECT_EQ(after.newest().at(0), checkpoint(5)) << "what a fenced process wrote decides nothing";
}

TEST_F(CheckpointDirectoryTest, JobsDoNotSeeEachOther) {
  CheckpointDirectory one(folder_, "job");
  CheckpointDirectory other(folder_, "job-2");
  one.raise();
  EXPECT_EQ(other.raise(), Generation{1});
  other.publish(0, checkpoint(1));
  EXPECT_TRUE(one.newest().empty());
}

TEST_F(CheckpointDirectoryTest, ADamagedFileStopsEverything) {
  CheckpointDirectory store(folder_, "job");
  store.raise();
  store.publish(0, checkpoint(5));
  const auto file = folder_ / "job.generation-1" / "task-0";
  std::stringstream text;
  text << std::ifstream(file).rdbuf();
  for (const std::size_t size : {std::size_t{0}, text.str().size() / 2}) {
    std::ofstream(file) << text.str().substr(0, size);
    EXPECT_EQ(fault_of([&] { store.newest(); }), Fault::fatal);
  }
  std::string changed = text.str();
  changed[changed.find("orders")] = 'O';
  std::ofstream(file) << changed;
  EXPECT_EQ(fault_of([&] { store.newest(); }), Fault::fatal) << "the checksum";
}

TEST_F(CheckpointDirectoryTest, ADraftIsNoCheckpoint) {
  CheckpointDirectory store(folder_, "job");
  store.raise();
  std::ofstream(folder_ / "job.generation-1" / "task-0.unfinished") << "half";
  EXPECT_TRUE(store.newest().empty());
}

}  // namespace
}  // namespace sluice
