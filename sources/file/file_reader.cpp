#include "sources/file/file_reader.h"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "core/model/error.h"

namespace sluice::file {

namespace {

using Clock = std::chrono::steady_clock;

// How often files at their end are looked at for growth.
constexpr std::chrono::milliseconds look_interval{10};

}  // namespace

FileReader::FileReader(const std::vector<std::string>& paths, std::shared_ptr<const FileEnds> ends)
    : ends_(std::move(ends)) {
  for (const std::string& path : paths) {
    FileState& file = files_.emplace_back();
    file.name = {path, 0};
  }
}

SourceEvent FileReader::poll(std::size_t records_max, std::chrono::milliseconds wait_max) {
  records_.clear();
  if (!announced_) {
    Assigned assigned = open_files();
    announced_ = true;
    if (!assigned.splits.empty()) return assigned;
  }
  const auto deadline = Clock::now() + wait_max;
  while (true) {
    // A hole before records of its file is told by them already, so only one at the end is left for Reached.
    if (!holes_.empty()) {
      const Reached hole = holes_.front();
      holes_.pop_front();
      files_[hole.split].told = hole.offset;
      return hole;
    }
    if (look(std::max<std::size_t>(records_max, 1))) {
      if (!records_.empty()) return Records{records_};
      continue;
    }
    const auto left = deadline - Clock::now();
    if (left <= Clock::duration::zero()) return Idle{};
    std::this_thread::sleep_for(std::min<Clock::duration>(left, look_interval));
  }
}

Assigned FileReader::open_files() {
  Assigned assigned;
  for (FileState& file : files_) {
    file.lines = std::make_unique<LineFile>(file.name.topic);
    assigned.splits.push_back(file.name);
  }
  return assigned;
}

bool FileReader::look(std::size_t records_max) {
  for (std::size_t i = 0; i < files_.size(); ++i) {
    const auto index = static_cast<SplitIndex>((turn_ + i) % files_.size());
    if (!files_[index].reading) continue;
    read_lines(index, records_max);
    if (records_.empty() && holes_.empty()) continue;
    turn_ = index + 1;
    return true;
  }
  return false;
}

void FileReader::read_lines(SplitIndex index, std::size_t records_max) {
  FileState& file = files_[index];
  LineFile& lines = *file.lines;
  file.at_end = !lines.fill();
  while (records_.size() < records_max) {
    auto line = lines.take_line();
    if (!line && file.at_end) {
      if (const auto end_byte = ends_->find(file.name.topic)) line = lines.take_tail(*end_byte);
    }
    if (!line) break;
    if (line->empty()) continue;
    Record& record = records_.emplace_back();
    record.split = index;
    record.offset = lines.next() - 1;
    record.value = *line;
    file.told = lines.next();
  }
  if (lines.next() > file.told) holes_.push_back({index, lines.next()});
}

Positions FileReader::start_positions(const std::vector<Split>& splits) {
  Positions positions;
  for (const Split& split : splits) positions[split] = 0;
  return positions;
}

void FileReader::start(const Positions& from) {
  records_.clear();
  for (const auto& [split, line] : from) {
    FileState* const file = find(split);
    if (file == nullptr || file->lines == nullptr) {
      throw Error(Fault::fatal, "file " + split.topic + " is not among those that this task reads");
    }
    std::erase_if(holes_, [&](const Reached& hole) { return &files_[hole.split] == file; });
    file->lines->seek(line);
    file->told = line;
    file->at_end = false;
    file->reading = true;
  }
}

void FileReader::release(const std::vector<Split>& splits) {
  for (const Split& split : splits) {
    if (FileState* const file = find(split); file != nullptr) file->reading = false;
  }
}

void FileReader::pause() {
  holes_.clear();
  for (FileState& file : files_) file.reading = false;
}

bool FileReader::caught_up() const {
  return std::all_of(files_.begin(), files_.end(), [](const FileState& file) { return !file.reading || file.at_end; });
}

Positions FileReader::known_ends() const {
  Positions ends;
  for (const FileState& file : files_) {
    if (file.reading && file.at_end) ends[file.name] = file.lines->next();
  }
  return ends;
}

void FileReader::close() noexcept {
  pause();
  for (FileState& file : files_) file.lines.reset();
}

FileReader::FileState* FileReader::find(const Split& split) {
  const auto found =
      std::find_if(files_.begin(), files_.end(), [&](const FileState& file) { return file.name == split; });
  return found == files_.end() ? nullptr : &*found;
}

}  // namespace sluice::file
