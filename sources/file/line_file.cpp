#include "sources/file/line_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "core/model/error.h"

namespace sluice::file {

namespace {

constexpr std::size_t buffer_bytes = std::size_t{1} << 20;
constexpr std::size_t line_bytes_max = std::size_t{256} << 20;
constexpr std::int64_t mark_distance_bytes = 1 << 20;

[[noreturn]] void fail(const std::string& path, const std::string& what) {
  throw Error(Fault::fatal, "file " + path + " " + what);
}

std::string system_reason() {
  return std::strerror(errno);
}

std::string_view without_carriage_return(std::string_view line) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

}  // namespace

LineFile::LineFile(std::string path) : path_(std::move(path)), buffer_(buffer_bytes), marks_{Mark{}} {
  descriptor_ = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor_ < 0) {
    fail(path_, "cannot be opened: " + system_reason() + ". Correct paths in the job file or the file's rights.");
  }
}

LineFile::~LineFile() {
  ::close(descriptor_);
}

void LineFile::seek(std::int64_t line) {
  const auto after = std::upper_bound(marks_.begin(), marks_.end(), line,
                                      [](std::int64_t wanted, const Mark& mark) { return wanted < mark.line; });
  restart_at(*std::prev(after));
  while (next_ < line) {
    if (take_line() || fill()) continue;
    if (next_ + 1 == line && take_tail(read_bytes())) return;
    fail(path_, "ends before line " + std::to_string(line) + ", up to which it has been read: it has " +
                    std::to_string(next_) +
                    " lines. It was cut or replaced. Bring it back, or move the job's position in sluice_ledger "
                    "(docs/operations.md tells how).");
  }
}

void LineFile::restart_at(Mark mark) {
  buffer_byte_ = mark.byte;
  begin_ = scanned_ = end_ = 0;
  next_ = mark.line;
  tail_taken_ = false;
}

bool LineFile::fill() {
  if (scanned_ < end_ && std::memchr(buffer_.data() + scanned_, '\n', end_ - scanned_) != nullptr) return true;
  scanned_ = end_;
  while (read_more() > 0) {
    finish_tail();
    if (std::memchr(buffer_.data() + scanned_, '\n', end_ - scanned_) != nullptr) return true;
    scanned_ = end_;
  }
  require_same_file();
  return false;
}

std::size_t LineFile::read_more() {
  if (begin_ > 0) {
    std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    buffer_byte_ += static_cast<std::int64_t>(begin_);
    scanned_ -= begin_;
    end_ -= begin_;
    begin_ = 0;
  }
  if (!tail_taken_ && buffer_byte_ - marks_.back().byte >= mark_distance_bytes) marks_.push_back({next_, buffer_byte_});
  if (end_ == buffer_.size()) {
    if (buffer_.size() >= line_bytes_max) {
      fail(path_, "has a line " + std::to_string(next_) + " of more than 256 MiB; is it made of JSON lines?");
    }
    buffer_.resize(buffer_.size() * 2);
  }
  ssize_t count = 0;
  do {
    count = ::pread(descriptor_, buffer_.data() + end_, buffer_.size() - end_, read_bytes());
  } while (count < 0 && errno == EINTR);
  if (count < 0) fail(path_, "cannot be read: " + system_reason());
  end_ += static_cast<std::size_t>(count);
  return static_cast<std::size_t>(count);
}

// The end of a line that was taken without it.
void LineFile::finish_tail() {
  if (!tail_taken_ || begin_ == end_) return;
  const std::string_view rest{buffer_.data() + begin_, end_ - begin_};
  if (rest == "\r") return;  // the newline may be on its way
  const std::size_t length = rest.starts_with("\r\n") ? 2 : 1;
  if (rest[length - 1] != '\n') {
    fail(path_, "was written on in line " + std::to_string(next_ - 1) +
                    ", which had been read to what was the file's end. Whoever appends must write whole lines.");
  }
  begin_ += length;
  scanned_ = std::max(scanned_, begin_);
  tail_taken_ = false;
}

void LineFile::require_same_file() const {
  struct stat opened {};
  struct stat named {};
  if (::fstat(descriptor_, &opened) != 0) fail(path_, "cannot be looked at: " + system_reason());
  if (opened.st_size < read_bytes()) {
    fail(path_, "has shrunk to " + std::to_string(opened.st_size) + " bytes after " + std::to_string(read_bytes()) +
                    " were read. Files must only grow; start a new job for new contents.");
  }
  if (::stat(path_.c_str(), &named) != 0 || named.st_ino != opened.st_ino || named.st_dev != opened.st_dev) {
    fail(path_, "was replaced or removed while it was read. Files must only grow; start a new job for new contents.");
  }
}

std::optional<std::string_view> LineFile::take_line() {
  if (tail_taken_) return std::nullopt;
  const void* const found = std::memchr(buffer_.data() + scanned_, '\n', end_ - scanned_);
  if (found == nullptr) {
    scanned_ = end_;
    return std::nullopt;
  }
  const auto place = static_cast<std::size_t>(static_cast<const char*>(found) - buffer_.data());
  const std::string_view line{buffer_.data() + begin_, place - begin_};
  begin_ = scanned_ = place + 1;
  ++next_;
  return without_carriage_return(line);
}

std::optional<std::string_view> LineFile::take_tail(std::int64_t end_byte) {
  if (tail_taken_ || begin_ == end_ || read_bytes() != end_byte) return std::nullopt;
  const std::string_view line{buffer_.data() + begin_, end_ - begin_};
  begin_ = scanned_ = end_;
  ++next_;
  tail_taken_ = true;
  return without_carriage_return(line);
}

FileExtent measure(const std::string& path) {
  LineFile file{path};
  while (file.take_line() || file.fill()) continue;
  const std::int64_t bytes = file.read_bytes();
  file.take_tail(bytes);
  return {file.next(), bytes};
}

}  // namespace sluice::file
