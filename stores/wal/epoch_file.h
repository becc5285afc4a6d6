// One epoch as a file: its rows and dead letters as they came, then the cut that ends it, then a checksum over all of
// it. A file is whole when its last frame is there and the checksum fits; whatever else it may be, it is not read.
//
// The file lies in a folder of the local disk. Its writer holds a lock on it (flock) as long as it lives, so that
// whoever finds the file without one knows that the writer is gone.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/api/dead_letter.h"
#include "core/api/sink.h"
#include "core/model/batch.h"

namespace sluice::wal {

// What an epoch file says besides its rows.
struct EpochEnd {
  Cut cut;          // the generations are those of the process that wrote it
  TopicIds topics;  // that the positions belong to
};

// Used by one thread. Errors: retryable (a full disk), fatal.
class EpochFileWriter {
 public:
  // Makes the file `<name>.open` in the folder, which exists.
  EpochFileWriter(const std::filesystem::path& folder, const std::string& name);
  ~EpochFileWriter();  // removes what was not sealed
  EpochFileWriter(const EpochFileWriter&) = delete;
  EpochFileWriter& operator=(const EpochFileWriter&) = delete;

  // `shape` is a text that tells this shape of rows from another one.
  void rows(const std::string& topic, const std::string& shape, const Batch& batch);
  void letters(std::span<const DeadLetter> letters);

  // Durable on return, under the name `<name>.sealed`; nothing more can be added.
  void seal(const EpochEnd& end);
  void remove() noexcept;

  const std::filesystem::path& path() const { return path_; }

 private:
  void frame(char kind, std::string_view payload);
  void write_out();

  std::filesystem::path folder_;
  std::filesystem::path path_;
  int file_ = -1;
  bool sealed_ = false;
  std::string buffer_;
  std::string payload_;
  struct Hash;
  std::unique_ptr<Hash> hash_;
};

// A sealed file, mapped into memory. Cells of its batches point into the mapping.
class EpochFile {
 public:
  // Nothing: its writer lives, or it is gone. Throws std::runtime_error where the file is not whole, with the reason.
  static std::unique_ptr<EpochFile> open(const std::filesystem::path& path);
  // As long as its own writer has it open, which holds the lock.
  static std::unique_ptr<EpochFile> of(const EpochFileWriter& writer);
  ~EpochFile();
  EpochFile(const EpochFile&) = delete;
  EpochFile& operator=(const EpochFile&) = delete;

  const EpochEnd& end() const { return end_; }

  // Everything in the order in which it was added. A batch lives until `rows` returns.
  void replay(const std::function<void(const std::string& topic, const std::string& shape, const Batch&)>& rows,
              const std::function<void(std::span<const DeadLetter>)>& letters) const;

 private:
  explicit EpochFile(int file) : file_(file) {}
  void load(const std::filesystem::path& path);

  struct Frame {
    char kind = 0;
    std::string_view payload;
  };
  std::vector<Frame> frames_;
  EpochEnd end_;
  int file_ = -1;
  const char* data_ = nullptr;
  std::size_t size_ = 0;
};

// Unfinished and sealed files of a folder.
std::vector<std::filesystem::path> epoch_files(const std::filesystem::path& folder, std::string_view suffix);
inline constexpr std::string_view unfinished = ".open";
inline constexpr std::string_view sealed = ".sealed";

// Removes an unfinished file whose writer is gone.
void remove_if_left(const std::filesystem::path& path) noexcept;

}  // namespace sluice::wal
