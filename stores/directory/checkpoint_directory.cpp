#include "stores/directory/checkpoint_directory.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <utility>

#include "core/format/checkpoint_text.h"
#include "core/model/error.h"
#include "core/model/fault_point.h"
#include "stores/files/durable_files.h"

namespace sluice {

namespace fs = std::filesystem;

namespace {

constexpr auto task_prefix = "task-";
constexpr auto unfinished = ".unfinished";

const DurableFiles files("The checkpoint directory must be writable; \"checkpoint.directory\" names it");

template <class Number>
bool read_number(std::string_view text, Number& value) {
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  return read.ec == std::errc() && read.ptr == text.data() + text.size();
}

}  // namespace

CheckpointDirectory::CheckpointDirectory(fs::path directory, const std::string& job)
    : directory_(std::move(directory)), prefix_(job + ".generation-") {}

fs::path CheckpointDirectory::folder(Generation generation) const {
  return directory_ / (prefix_ + std::to_string(number(generation)));
}

// The greatest one that has a folder; 0: there is none.
Generation CheckpointDirectory::current() const {
  std::uint64_t greatest = 0;
  for (const auto& path : files.listed(directory_)) {
    const std::string name = path.filename();
    std::uint64_t generation = 0;
    if (name.starts_with(prefix_) && read_number(std::string_view(name).substr(prefix_.size()), generation)) {
      greatest = std::max(greatest, generation);
    }
  }
  return Generation{greatest};
}

Generation CheckpointDirectory::raise() {
  files.make_folder(directory_);
  for (;;) {
    const Generation before = current();
    const Generation mine{number(before) + 1};
    const bool first = number(before) == 0;
    const int done =
        first ? ::mkdir(folder(mine).c_str(), 0755) : ::rename(folder(before).c_str(), folder(mine).c_str());
    if (done == 0) {
      files.sync_folder(directory_);
      files.sync_folder(folder(mine));  // what the last process published may not have been
      generation_ = mine;
      fault_point("store.after_raise");
      return mine;
    }
    // Another process was faster, in either way.
    if (errno != ENOENT && errno != EEXIST && errno != ENOTEMPTY) files.fail("rename", folder(before));
  }
}

void CheckpointDirectory::publish(std::size_t task, const Checkpoint& checkpoint) {
  const fs::path own = folder(generation_);
  const fs::path file = own / (task_prefix + std::to_string(task));
  const fs::path draft = file.string() + unfinished;
  try {
    files.write(draft, format::checkpoint_text(checkpoint));
    // By its path, never by an open folder: that would follow the folder to its next name.
    if (::rename(draft.c_str(), file.c_str()) != 0) files.fail("rename", draft);
    files.sync_folder(own);
  } catch (const Error&) {
    require_newest();
    throw;
  }
}

std::map<std::size_t, Checkpoint> CheckpointDirectory::newest() const {
  std::map<std::size_t, Checkpoint> all;
  const Generation of = number(generation_) == 0 ? current() : generation_;
  require_newest();
  for (const auto& path : files.listed(folder(of))) {
    const std::string name = path.filename();
    std::size_t task = 0;
    if (!name.starts_with(task_prefix) || !read_number(std::string_view(name).substr(std::strlen(task_prefix)), task)) {
      continue;
    }
    try {
      all.emplace(task, format::parse_checkpoint(files.read(path), path.string()));
    } catch (const Error&) {
      require_newest();  // the folder may have been renamed meanwhile
      throw;
    }
  }
  require_newest();
  return all;
}

void CheckpointDirectory::require_newest() const {
  if (number(generation_) == 0 || current() == generation_) return;
  throw Error(Fault::fenced, "another process of this job has started since (generation " +
                                 std::to_string(number(current())) + " in " + directory_.string() +
                                 "): this one must stop. What it had prepared and not published is rolled back");
}

}  // namespace sluice
