// The commands of the binary; each returns the process's exit code. JobError and Error reach main(), which prints them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/api/log.h"

namespace sluice::app {

struct JobArguments {
  std::string file;
  std::vector<std::string> overrides;  // path=value
};

struct RunArguments {
  bool bounded = false;
  bool no_migrate = false;
  std::string from;  // the directory of a savepoint; empty: as the ledger says
};
int run_command(const JobArguments& job, const RunArguments& how, const Log& log);
int check_command(const JobArguments& job, bool json, const Log& log);
int savepoint_command(const JobArguments& job, const std::string& directory, const Log& log);
int migrate_command(const JobArguments& job, bool print, const Log& log);
int status_command(const JobArguments& job, bool json, const Log& log);

// At most one of retry and discard.
struct DeadLettersArguments {
  bool list = false;  // what it does anyway
  bool retry = false;
  bool discard = false;
  bool json = false;
  std::uint64_t limit = 100;
};
int dead_letters_command(const JobArguments& job, const DeadLettersArguments& what, const Log& log);

struct OffsetsArguments {
  std::vector<std::string> set;  // topic:partition=offset; found among the overrides
  std::string reset;             // earliest, latest, or nothing
  std::string sink;              // of several the one to move
};
int offsets_command(const JobArguments& job, OffsetsArguments what, const Log& log);

// At most one of commit and rollback; neither: list.
struct RecoverArguments {
  std::string commit;
  std::string rollback;
  bool json = false;
};
int recover_command(const JobArguments& job, const RecoverArguments& what, const Log& log);

struct DemoArguments {
  std::int64_t records = 120'000;
  std::int64_t kills = 6;
  std::string directory;  // empty: a temporary one, removed at the end
  std::uint64_t seed = 0;
};
int demo_command(const DemoArguments& arguments, const std::string& own_path);

}  // namespace sluice::app
