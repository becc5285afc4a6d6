// For tests: job files on disk and what is wrong with them.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>  // mkdtemp, setenv

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "core/format/job_reader.h"

namespace sluice::format {

// Its own folder, removed at the end.
class JobFileTest : public testing::Test {
 protected:
  JobFileTest() {
    std::string name = (std::filesystem::temp_directory_path() / "sluice-job-XXXXXX").string();
    folder_ = mkdtemp(name.data());
  }
  ~JobFileTest() override { std::filesystem::remove_all(folder_); }

  void write(const std::string& name, const std::string& text) { std::ofstream(folder_ / name) << text; }

  Job read(const std::string& text, const std::vector<std::string>& overrides = {}) {
    write("job.json", text);
    return read_job((folder_ / "job.json").string(), overrides);
  }

  // The message without the folder's name; empty: the job is good.
  std::string problems(const std::string& text, const std::vector<std::string>& overrides = {}) {
    try {
      read(text, overrides);
    } catch (const JobError& error) {
      std::string message = error.what();
      const auto prefix = folder_.string() + "/";
      for (auto at = message.find(prefix); at != std::string::npos; at = message.find(prefix)) {
        message.erase(at, prefix.size());
      }
      return message;
    }
    return {};
  }

  std::filesystem::path folder_;
};

// A good job on one line; the additions go inside its objects: ", \"parallelism\": 2".
inline std::string job_text(const std::string& top = {}, const std::string& source = {}, const std::string& sink = {}) {
  return R"({"name": "orders", "source": {"type": "kafka", )"
         R"("bootstrap.servers": "localhost:9092", "topics": ["orders"])" +
         source + R"(}, "sink": {"type": "postgres", "connection.url": "postgresql://app:pw@localhost/shop")" + sink +
         "}" + top + "}";
}

}  // namespace sluice::format
