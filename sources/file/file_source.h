// Records from files of JSON lines: each file is a split, each line a record, its offset the line's number from 0.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "core/api/source.h"
#include "core/model/ids.h"

namespace sluice {

struct FileConfig {
  std::vector<std::string> paths;  // a split's topic is the path as it is written here, its partition is 0
  std::size_t tasks = 1;           // reader n gets the paths whose place in the list is n modulo this
};

// Where the files ended when end_positions() was called: behind these bytes nothing is waited for.
class FileEnds {
 public:
  void set(const std::string& path, std::int64_t end_byte);
  std::optional<std::int64_t> find(const std::string& path) const;

 private:
  mutable std::mutex mutex_;
  std::map<std::string, std::int64_t> end_bytes_;
};

// Files are followed as they grow and must only ever grow: one that shrinks or is replaced is Error(fatal). Empty lines
// are passed over. A last line without its newline may still be growing, so it is no record yet, with one exception:
// after end_positions(), which counts it, it is one when it ends where the file ended then. So bounded runs read files
// to their last byte. Should such a line grow afterwards, that is Error(fatal), too.
//
// Any thread may call any method. Nothing is locked: several processes can read the same files.
class FileSource final : public Source {
 public:
  // Throws Error(fatal) for an empty list or a path given twice.
  explicit FileSource(FileConfig config);

  // The files are opened by the reader's first poll(); what cannot be opened is Error(fatal).
  std::unique_ptr<SourceReader> open_reader(std::size_t task) override;
  Positions end_positions() override;  // reads every file once
  Positions begin_positions() override;

 private:
  FileConfig config_;
  std::shared_ptr<FileEnds> ends_;
};

}  // namespace sluice
