// From a job file to a Job.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

#include "core/format/job.h"

namespace sluice::format {

// The job file or an override is at fault. what() holds one line for each problem, in the order of the file:
// `job.json:12:5: unknown key "sink.insert.mod"; did you mean "insert.mode"?`. Never a secret.
class JobError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Reads the file, applies overrides ("checkpoint.interval=5s"), puts in variables and files, checks all values and what
// they mean together. Looks at the file system and the environment only; opens no connection.
Job read_job(const std::string& path, const std::vector<std::string>& overrides = {});

}  // namespace sluice::format
