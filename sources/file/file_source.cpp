#include "sources/file/file_source.h"

#include <set>
#include <utility>

#include "core/model/error.h"
#include "sources/file/file_reader.h"
#include "sources/file/line_file.h"

namespace sluice {

void FileEnds::set(const std::string& path, std::int64_t end_byte) {
  const std::lock_guard lock{mutex_};
  end_bytes_[path] = end_byte;
}

std::optional<std::int64_t> FileEnds::find(const std::string& path) const {
  const std::lock_guard lock{mutex_};
  const auto found = end_bytes_.find(path);
  if (found == end_bytes_.end()) return std::nullopt;
  return found->second;
}

FileSource::FileSource(FileConfig config) : config_(std::move(config)), ends_(std::make_shared<FileEnds>()) {
  if (config_.paths.empty()) {
    throw Error(Fault::fatal, "the file source has no paths. Name at least one file in the job file.");
  }
  if (config_.tasks == 0) throw Error(Fault::fatal, "the file source has no tasks to share its files.");
  std::set<std::string> seen;
  for (const std::string& path : config_.paths) {
    if (!seen.insert(path).second) {
      throw Error(Fault::fatal, "the file source names " + path + " twice. Remove one of them from the job file.");
    }
  }
}

std::unique_ptr<SourceReader> FileSource::open_reader(std::size_t task) {
  std::vector<std::string> share;
  for (std::size_t i = task % config_.tasks; i < config_.paths.size(); i += config_.tasks) {
    share.push_back(config_.paths[i]);
  }
  return std::make_unique<file::FileReader>(share, ends_);
}

Positions FileSource::end_positions() {
  Positions positions;
  for (const std::string& path : config_.paths) {
    const file::FileExtent extent = file::measure(path);
    ends_->set(path, extent.bytes);
    positions[{path, 0}] = extent.lines;
  }
  return positions;
}

Positions FileSource::begin_positions() {
  Positions positions;
  for (const std::string& path : config_.paths) positions[{path, 0}] = 0;
  return positions;
}

}  // namespace sluice
