// Reads one task's share of the files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "core/api/source.h"
#include "sources/file/file_source.h"
#include "sources/file/line_file.h"

namespace sluice::file {

class FileReader final : public SourceReader {
 public:
  FileReader(const std::vector<std::string>& paths, std::shared_ptr<const FileEnds> ends);

  SourceEvent poll(std::size_t records_max, std::chrono::milliseconds wait_max) override;
  Positions start_positions(const std::vector<Split>& splits) override;
  void start(const Positions& from) override;
  void release(const std::vector<Split>& splits) override;
  void pause() override;
  bool caught_up() const override;
  Positions known_ends() const override;
  void committed(const Positions&) noexcept override {}  // nobody to tell
  const Split& split(SplitIndex index) const override { return files_.at(index).name; }
  void close() noexcept override;

 private:
  struct FileState {
    Split name;
    std::unique_ptr<LineFile> lines;
    bool reading = false;
    bool at_end = false;    // as of the last look
    std::int64_t told = 0;  // the position that the caller knows: behind the last record or Reached
  };

  Assigned open_files();
  // Records of the next file that has some; true when there are any, or a hole to tell.
  bool look(std::size_t records_max);
  void read_lines(SplitIndex index, std::size_t records_max);
  FileState* find(const Split& split);

  std::shared_ptr<const FileEnds> ends_;
  std::vector<FileState> files_;
  std::size_t turn_ = 0;  // which file is looked at first, so that none starves
  std::vector<Record> records_;
  std::deque<Reached> holes_;
  bool announced_ = false;
};

}  // namespace sluice::file
