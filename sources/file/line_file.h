// One file, line by line, from any line on, while it grows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sluice::file {

// Errors are Error(fatal) and name the file. Not thread-safe.
class LineFile {
 public:
  explicit LineFile(std::string path);
  ~LineFile();
  LineFile(const LineFile&) = delete;
  LineFile& operator=(const LineFile&) = delete;

  // Number of the line that comes next.
  std::int64_t next() const { return next_; }

  // How much of the file has been read, whether taken or not.
  std::int64_t read_bytes() const { return buffer_byte_ + static_cast<std::int64_t>(end_); }

  // Goes to a line; one past the last is as far as it goes.
  void seek(std::int64_t line);

  // Reads on when no complete line is left in memory; ends the life of all views. False: there is nothing more now.
  bool fill();
  // A complete line without its end (\n or \r\n); a view until fill() or seek(). Nothing: call fill().
  std::optional<std::string_view> take_line();
  // The last line although its newline is missing, when it ends at this byte of the file. To be called after fill()
  // returned false.
  std::optional<std::string_view> take_tail(std::int64_t end_byte);

 private:
  struct Mark {
    std::int64_t line = 0;
    std::int64_t byte = 0;
  };

  void require_same_file() const;
  std::size_t read_more();
  void restart_at(Mark mark);
  void finish_tail();

  std::string path_;
  int descriptor_ = -1;
  std::vector<char> buffer_;
  std::int64_t buffer_byte_ = 0;  // where in the file the buffer begins
  std::size_t begin_ = 0;         // of what was not taken yet
  std::size_t scanned_ = 0;       // no newline between begin_ and here
  std::size_t end_ = 0;           // of what was read
  std::int64_t next_ = 0;
  bool tail_taken_ = false;  // the newline of the line before next_ has not come yet
  std::vector<Mark> marks_;  // sparse, so that going back need not read the file from its start
};

struct FileExtent {
  std::int64_t lines = 0;  // a last one without newline counts
  std::int64_t bytes = 0;
};
FileExtent measure(const std::string& path);

}  // namespace sluice::file
