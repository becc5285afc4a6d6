#include "stores/directory/checkpoint_directory.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <utility>
#include <vector>

#include "core/model/error.h"
#include "core/model/fault_point.h"
#include "core/model/fingerprint.h"

namespace sluice {

namespace fs = std::filesystem;
using nlohmann::json;

namespace {

constexpr auto task_prefix = "task-";
constexpr auto unfinished = ".unfinished";

[[noreturn]] void fail(const std::string& what, const fs::path& path) {
  const int code = errno;
  throw Error(code == ENOSPC || code == EDQUOT || code == EINTR ? Fault::retryable : Fault::fatal,
              "cannot " + what + " " + path.string() + ": " + std::strerror(code) +
                  ". The checkpoint directory must be writable; \"checkpoint.directory\" names it");
}

// Makes what was written or renamed there survive a loss of power.
void sync(const fs::path& path, int flags) {
  const int file = ::open(path.c_str(), flags | O_CLOEXEC);
  if (file < 0) fail("open", path);
  const bool synced = ::fsync(file) == 0;
  ::close(file);
  if (!synced) fail("sync", path);
}

void write_file(const fs::path& path, const std::string& text) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (file < 0) fail("create", path);
  std::size_t written = 0;
  while (written < text.size()) {
    const auto count = ::write(file, text.data() + written, text.size() - written);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) {
      ::close(file);
      fail("write", path);
    }
    written += static_cast<std::size_t>(count);
  }
  const bool synced = ::fsync(file) == 0;
  ::close(file);
  if (!synced) fail("sync", path);
}

// Nothing where there is no such folder; one that cannot be read is an error, never an empty one.
std::vector<fs::path> listed(const fs::path& folder) {
  std::vector<fs::path> found;
  std::error_code error;
  fs::directory_iterator entries(folder, error);
  for (; !error && entries != fs::directory_iterator(); entries.increment(error)) found.push_back(entries->path());
  if (!error || error == std::errc::no_such_file_or_directory) return found;
  errno = error.value();
  fail("list", folder);
}

template <class Number>
bool read_number(std::string_view text, Number& value) {
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  return read.ec == std::errc() && read.ptr == text.data() + text.size();
}

}  // namespace

std::string checkpoint_text(const Checkpoint& checkpoint) {
  json body{{"epoch", number(checkpoint.epoch)}, {"positions", json::array()}, {"committables", json::array()}};
  for (const auto& [split, position] : checkpoint.positions) {
    body["positions"].push_back({{"topic", split.topic}, {"partition", split.partition}, {"next_offset", position}});
  }
  for (const Committable& one : checkpoint.committables) {
    body["committables"].push_back({{"sink", one.sink}, {"transaction", one.transaction}});
  }
  const std::string text = body.dump();
  return json{{"version", 1}, {"checksum", fingerprint(text)}, {"checkpoint", body}}.dump(2) + "\n";
}

Checkpoint parse_checkpoint(const std::string& text, const std::string& where) {
  try {
    const json whole = json::parse(text);
    const json& body = whole.at("checkpoint");
    if (whole.at("version") != 1) throw std::runtime_error("it is of another version");
    if (whole.at("checksum") != fingerprint(body.dump())) throw std::runtime_error("its checksum does not fit");
    Checkpoint checkpoint;
    checkpoint.epoch = Epoch{body.at("epoch").get<std::uint64_t>()};
    for (const json& one : body.at("positions")) {
      checkpoint.positions.emplace(Split{one.at("topic"), one.at("partition")}, one.at("next_offset"));
    }
    for (const json& one : body.at("committables")) {
      checkpoint.committables.push_back({one.at("sink"), one.at("transaction")});
    }
    return checkpoint;
  } catch (const std::exception& error) {
    throw Error(Fault::fatal, where + " is no checkpoint of this program: " + error.what() +
                                  ". What it decided is not known, and nothing was touched: `sluice recover --list` "
                                  "shows what is prepared; commit or roll that back, then remove the file");
  }
}

CheckpointDirectory::CheckpointDirectory(fs::path directory, const std::string& job)
    : directory_(std::move(directory)), prefix_(job + ".generation-") {}

fs::path CheckpointDirectory::folder(Generation generation) const {
  return directory_ / (prefix_ + std::to_string(number(generation)));
}

// The greatest one that has a folder; 0: there is none.
Generation CheckpointDirectory::current() const {
  std::uint64_t greatest = 0;
  for (const auto& path : listed(directory_)) {
    const std::string name = path.filename();
    std::uint64_t generation = 0;
    if (name.starts_with(prefix_) && read_number(std::string_view(name).substr(prefix_.size()), generation)) {
      greatest = std::max(greatest, generation);
    }
  }
  return Generation{greatest};
}

Generation CheckpointDirectory::raise() {
  std::error_code error;
  fs::create_directories(directory_, error);
  if (error) {
    errno = error.value();
    fail("make", directory_);
  }
  for (;;) {
    const Generation before = current();
    const Generation mine{number(before) + 1};
    const bool first = number(before) == 0;
    const int done =
        first ? ::mkdir(folder(mine).c_str(), 0755) : ::rename(folder(before).c_str(), folder(mine).c_str());
    if (done == 0) {
      sync(directory_, O_RDONLY | O_DIRECTORY);
      sync(folder(mine), O_RDONLY | O_DIRECTORY);  // what the last process published may not have been
      generation_ = mine;
      fault_point("store.after_raise");
      return mine;
    }
    // Another process was faster, in either way.
    if (errno != ENOENT && errno != EEXIST && errno != ENOTEMPTY) fail("rename", folder(before));
  }
}

void CheckpointDirectory::publish(std::size_t task, const Checkpoint& checkpoint) {
  const fs::path own = folder(generation_);
  const fs::path file = own / (task_prefix + std::to_string(task));
  const fs::path draft = file.string() + unfinished;
  try {
    write_file(draft, checkpoint_text(checkpoint));
    // By its path, never by an open folder: that would follow the folder to its next name.
    if (::rename(draft.c_str(), file.c_str()) != 0) fail("rename", draft);
    sync(own, O_RDONLY | O_DIRECTORY);
  } catch (const Error&) {
    require_newest();
    throw;
  }
}

std::map<std::size_t, Checkpoint> CheckpointDirectory::newest() const {
  std::map<std::size_t, Checkpoint> all;
  const Generation of = number(generation_) == 0 ? current() : generation_;
  require_newest();
  for (const auto& path : listed(folder(of))) {
    const std::string name = path.filename();
    std::size_t task = 0;
    if (!name.starts_with(task_prefix) || !read_number(std::string_view(name).substr(std::strlen(task_prefix)), task)) {
      continue;
    }
    std::ifstream in(path);
    std::stringstream text;
    text << in.rdbuf();
    require_newest();  // before what a folder that was renamed meanwhile holds is judged
    all.emplace(task, parse_checkpoint(text.str(), path.string()));
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
