#include "stores/directory/inspect.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

namespace sluice {
namespace {

namespace fs = std::filesystem;

class InspectDirectory : public ::testing::Test {
 protected:
  InspectDirectory() { fs::create_directories(folder_); }
  ~InspectDirectory() override { fs::remove_all(folder_); }

  static Severity worst(const fs::path& directory, bool must_survive) {
    const Findings found = inspect_directory(directory, must_survive);
    EXPECT_EQ(found.size(), 1U);
    return found.front().severity;
  }

  // Not in /tmp, which is in memory on some machines.
  fs::path folder_ = fs::path("/var/tmp") / ("sluice-inspect-" + std::to_string(getpid()));
};

TEST_F(InspectDirectory, OneThatWillBeMadeIsJudgedByItsPlace) {
  EXPECT_EQ(worst(folder_, true), Severity::ok);
  EXPECT_EQ(worst(folder_ / "new" / "state", true), Severity::ok);
  EXPECT_FALSE(fs::exists(folder_ / "new")) << "a look changes nothing";
}

TEST_F(InspectDirectory, InMemoryItDoesNotSurvive) {
  EXPECT_EQ(worst("/dev/shm/sluice-state", true), Severity::problem);
  EXPECT_EQ(worst("/dev/shm/sluice-state", false), Severity::warning) << "where losing it costs work only";
}

TEST_F(InspectDirectory, AFileIsNoPlace) {
  std::ofstream(folder_ / "file") << "x";
  EXPECT_EQ(worst(folder_ / "file", true), Severity::problem);
  EXPECT_EQ(worst(folder_ / "file" / "state", true), Severity::problem);
}

}  // namespace
}  // namespace sluice
