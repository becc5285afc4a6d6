#include "stores/wal/epoch_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <utility>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "core/model/error.h"
#include "stores/files/durable_files.h"
#include "stores/wal/row_bytes.h"

namespace sluice::wal {

namespace fs = std::filesystem;
using nlohmann::json;

namespace {

constexpr std::string_view magic = "SLUICE-EPOCH-1\n";
constexpr std::size_t buffer_max = std::size_t{1} << 20;
constexpr char rows_kind = 'R';
constexpr char letters_kind = 'L';
constexpr char end_kind = 'E';
constexpr std::size_t frame_head = 1 + sizeof(std::uint32_t);
constexpr std::size_t checksum_size = sizeof(std::uint64_t);

const DurableFiles files("Epochs wait in \"checkpoint.directory\" for their commit: it must be writable and have room");

[[noreturn]] void fail(const std::string& what, const fs::path& path) {
  const int code = errno;
  if (code != ENOENT && code != EWOULDBLOCK) files.fail(what, path);
  throw Error(Fault::retryable,
              "cannot " + what + " " + path.string() + ": somebody took it for one that was left behind");
}

json to_json(const DeadLetter& letter) {
  json headers = json::array();
  for (const auto& [name, value] : letter.headers)
    headers.push_back({name, json::binary({value.begin(), value.end()})});
  json out{{"topic", letter.split.topic},  {"partition", letter.split.partition},
           {"offset", letter.offset},      {"timestamp", letter.timestamp_ms},
           {"headers", headers},           {"of", static_cast<int>(letter.of)},
           {"code", letter.code},          {"message", letter.message},
           {"epoch", number(letter.epoch)}};
  if (letter.key) out["key"] = json::binary({letter.key->begin(), letter.key->end()});
  if (letter.value) out["value"] = json::binary({letter.value->begin(), letter.value->end()});
  return out;
}

std::string text_of(const json& binary) {
  const auto& bytes = binary.get_binary();
  return {bytes.begin(), bytes.end()};
}

DeadLetter letter_from(const json& from) {
  DeadLetter letter;
  letter.split = {from.at("topic"), from.at("partition")};
  letter.offset = from.at("offset");
  letter.timestamp_ms = from.at("timestamp");
  for (const json& header : from.at("headers")) letter.headers.emplace_back(header.at(0), text_of(header.at(1)));
  letter.of = static_cast<RejectClass>(from.at("of").get<int>());
  letter.code = from.at("code");
  letter.message = from.at("message");
  letter.epoch = Epoch{from.at("epoch").get<std::uint64_t>()};
  if (from.contains("key")) letter.key = text_of(from.at("key"));
  if (from.contains("value")) letter.value = text_of(from.at("value"));
  return letter;
}

json to_json(const EpochEnd& end) {
  json out{{"epoch", number(end.cut.epoch)}, {"moves", json::array()}, {"topics", end.topics}};
  for (const Move& move : end.cut.moves) {
    out["moves"].push_back({{"topic", move.split.topic},
                            {"partition", move.split.partition},
                            {"generation", number(move.generation)},
                            {"from", move.from},
                            {"to", move.to}});
  }
  return out;
}

EpochEnd end_from(const json& from) {
  EpochEnd end;
  end.cut.epoch = Epoch{from.at("epoch").get<std::uint64_t>()};
  end.topics = from.at("topics").get<TopicIds>();
  for (const json& one : from.at("moves")) {
    end.cut.moves.push_back({{one.at("topic"), one.at("partition")},
                             Generation{one.at("generation").get<std::uint64_t>()},
                             one.at("from"),
                             one.at("to")});
  }
  return end;
}

std::uint64_t number_at(const char* at) {
  std::uint64_t value = 0;
  std::memcpy(&value, at, sizeof value);
  return value;
}

}  // namespace

struct EpochFileWriter::Hash {
  XXH3_state_t state;
};

EpochFileWriter::EpochFileWriter(const fs::path& folder, const std::string& name)
    : folder_(folder), path_(folder / (name + std::string(unfinished))), hash_(std::make_unique<Hash>()) {
  file_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (file_ < 0) fail("create", path_);
  if (::flock(file_, LOCK_EX | LOCK_NB) != 0) {
    ::close(file_);
    fail("lock", path_);
  }
  XXH3_64bits_reset(&hash_->state);
  buffer_ = magic;
}

EpochFileWriter::~EpochFileWriter() {
  if (!sealed_) remove();
  ::close(file_);
}

void EpochFileWriter::remove() noexcept {
  ::unlink(path_.c_str());
}

void EpochFileWriter::rows(const std::string& topic, const std::string& shape, const Batch& batch) {
  payload_.clear();
  put_rows(payload_, topic, shape, batch);
  frame(rows_kind, payload_);
}

void EpochFileWriter::letters(std::span<const DeadLetter> letters) {
  json all = json::array();
  for (const DeadLetter& letter : letters) all.push_back(to_json(letter));
  const auto bytes = json::to_cbor(all);
  frame(letters_kind, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

void EpochFileWriter::frame(char kind, std::string_view payload) {
  buffer_ += kind;
  put_text(buffer_, payload);
  if (buffer_.size() >= buffer_max) write_out();
}

void EpochFileWriter::write_out() {
  XXH3_64bits_update(&hash_->state, buffer_.data(), buffer_.size());
  files.append(file_, buffer_, path_);
  buffer_.clear();
}

void EpochFileWriter::seal(const EpochEnd& end) {
  const auto bytes = json::to_cbor(to_json(end));
  frame(end_kind, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  write_out();
  const std::uint64_t checksum = XXH3_64bits_digest(&hash_->state);
  char last[checksum_size];
  std::memcpy(last, &checksum, sizeof last);
  files.append(file_, {last, sizeof last}, path_);
  if (::fsync(file_) != 0) fail("sync", path_);
  fs::path whole = path_;
  whole.replace_extension(std::string(sealed));
  if (::rename(path_.c_str(), whole.c_str()) != 0) fail("rename", path_);
  path_ = whole;
  sealed_ = true;
  files.sync_folder(folder_);
}

std::unique_ptr<EpochFile> EpochFile::open(const fs::path& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0 && errno == ENOENT) return nullptr;
  if (file < 0) fail("open", path);
  // Shared: others may look, too. Only the writer's own lock is in the way.
  if (::flock(file, LOCK_SH | LOCK_NB) != 0) {
    ::close(file);
    return nullptr;
  }
  std::unique_ptr<EpochFile> made(new EpochFile(file));
  made->load(path);
  return made;
}

std::unique_ptr<EpochFile> EpochFile::of(const EpochFileWriter& writer) {
  const int file = ::open(writer.path().c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) fail("open", writer.path());
  std::unique_ptr<EpochFile> made(new EpochFile(file));
  made->load(writer.path());
  return made;
}

void EpochFile::load(const fs::path& path) {
  struct stat about {};
  if (::fstat(file_, &about) != 0) fail("look at", path);
  size_ = static_cast<std::size_t>(about.st_size);
  const auto refuse = [](const char* why) { throw std::runtime_error(why); };
  if (size_ < magic.size() + frame_head + checksum_size) refuse("it is too short");
  void* const mapped = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file_, 0);
  if (mapped == MAP_FAILED) fail("map", path);
  data_ = static_cast<const char*>(mapped);
  ::madvise(mapped, size_, MADV_SEQUENTIAL);
  std::string_view rest(data_, size_ - checksum_size);
  if (!rest.starts_with(magic)) refuse("it is no epoch of this version");
  if (XXH3_64bits(rest.data(), rest.size()) != number_at(data_ + rest.size())) refuse("its checksum does not fit");
  rest.remove_prefix(magic.size());
  while (!rest.empty()) {
    if (rest.size() < frame_head) refuse("it is cut off");
    Frame frame;
    frame.kind = rest.front();
    std::uint32_t length = 0;
    std::memcpy(&length, rest.data() + 1, sizeof length);
    rest.remove_prefix(frame_head);
    if (rest.size() < length) refuse("it is cut off");
    frame.payload = rest.substr(0, length);
    rest.remove_prefix(length);
    frames_.push_back(frame);
  }
  if (frames_.empty() || frames_.back().kind != end_kind) refuse("its end is missing");
  end_ = end_from(json::from_cbor(frames_.back().payload));
}

EpochFile::~EpochFile() {
  if (data_ != nullptr) ::munmap(const_cast<char*>(data_), size_);
  if (file_ >= 0) ::close(file_);
}

void EpochFile::replay(
    const std::function<void(const std::string& topic, const std::string& shape, const Batch&)>& rows,
    const std::function<void(std::span<const DeadLetter>)>& letters) const {
  for (const Frame& frame : frames_) {
    if (frame.kind == rows_kind) {
      const RowFrame taken = take_rows(frame.payload);
      rows(taken.topic, taken.shape, taken.batch);
    } else if (frame.kind == letters_kind) {
      std::vector<DeadLetter> all;
      for (const json& one : json::from_cbor(frame.payload)) all.push_back(letter_from(one));
      letters(all);
    }
  }
}

std::vector<fs::path> epoch_files(const fs::path& folder, std::string_view suffix) {
  std::vector<fs::path> found = files.listed(folder);
  std::erase_if(found, [&](const fs::path& path) { return path.extension() != suffix; });
  return found;
}

void remove_if_left(const fs::path& path) noexcept {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return;
  if (::flock(file, LOCK_EX | LOCK_NB) == 0) ::unlink(path.c_str());
  ::close(file);
}

}  // namespace sluice::wal
