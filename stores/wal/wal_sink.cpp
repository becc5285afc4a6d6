#include "stores/wal/wal_sink.h"

#include <algorithm>
#include <random>
#include <stdexcept>
#include <utility>

#include "core/model/error.h"
#include "core/model/fault_point.h"
#include "core/model/fingerprint.h"
#include "stores/files/durable_files.h"

namespace sluice {

namespace fs = std::filesystem;

namespace {

std::string random_name() {
  std::random_device device;
  return fingerprint(std::to_string(device()) + "/" + std::to_string(device()));
}

// Nothing where a split of the file is not among the claims at all: it is not for this task to judge.
enum class Fate { apply, discard, leave };

Fate fate_of(const Cut& cut, const Claims& claims) {
  std::size_t known = 0;
  std::size_t expected = 0;
  for (const Move& move : cut.moves) {
    const auto claim = claims.find(move.split);
    if (claim == claims.end()) continue;
    ++known;
    expected += claim->second.position == move.from ? 1 : 0;
  }
  if (known == 0) return Fate::leave;
  // Whoever wrote it can never commit it any more: one of its splits is this task's now.
  return expected == cut.moves.size() ? Fate::apply : Fate::discard;
}

// Letters that are kept in memory until the first row of their epoch comes.
constexpr std::size_t early_letters_max = 1000;

// The table is to be created from a sample, and there is none.
struct NoTable {};

}  // namespace

WalSink::WalSink(Sink& inner, const fs::path& directory, const std::string& job, const std::string& sink, Log log)
    : inner_(inner),
      folder_(directory / (job + "." + sink + ".epochs")),
      log_(std::move(log)),
      process_(random_name()) {}

void WalSink::prepare(bool migrate) {
  DurableFiles("Epochs wait there for their commit; \"checkpoint.directory\" names another place").make_folder(folder_);
  for (const auto& path : wal::epoch_files(folder_, wal::unfinished)) wal::remove_if_left(path);
  inner_.prepare(migrate);
}

RowShape WalSink::bind(const std::string& topic, const std::function<std::vector<Field>()>& infer) {
  RowShape shape = inner_.bind(topic, infer);
  std::string text = shape.erases ? "erases\n" : "";
  for (const CellSource& cell : shape.cells) text += to_string(cell) + (cell.raw ? "!\n" : "\n");
  const std::scoped_lock lock(mutex_);
  shapes_[topic] = fingerprint(text);
  return shape;
}

std::optional<std::string> WalSink::shape_of(const std::string& topic) {
  {
    const std::scoped_lock lock(mutex_);
    if (const auto found = shapes_.find(topic); found != shapes_.end()) return found->second;
  }
  try {
    bind(topic, []() -> std::vector<Field> { throw NoTable(); });
  } catch (const NoTable&) {
    return std::nullopt;
  }
  const std::scoped_lock lock(mutex_);
  return shapes_.at(topic);
}

std::string WalSink::next_name(std::size_t task) {
  return "task-" + std::to_string(task) + "-" + process_ + "-" + std::to_string(++files_);
}

std::unique_ptr<SinkWriter> WalSink::open_writer(std::size_t task) {
  return std::make_unique<WalWriter>(*this, inner_.open_writer(task), task);
}

WalWriter::WalWriter(WalSink& sink, std::unique_ptr<SinkWriter> inner, std::size_t task)
    : sink_(sink), inner_(std::move(inner)), task_(task) {}

Claims WalWriter::take_over(const Positions& starts, const Claims& held, const TopicIds& topics) {
  Claims claims = inner_->take_over(starts, held, topics);
  for (const auto& [topic, id] : topics) topics_.insert_or_assign(topic, id);
  // One epoch may be the next one of another, so until none fits any more.
  apply_left(claims, topics);
  return claims;
}

void WalWriter::apply_left(Claims& claims, const TopicIds& topics) {
  for (bool again = true; again;) {
    again = false;
    for (const auto& path : wal::epoch_files(sink_.folder_, wal::sealed)) {
      again = apply_left(path, claims, topics) || again;
    }
  }
}

// Whether the ledger has moved past the begin of one of its splits, so that nobody can apply it any more.
bool WalWriter::passed(const Cut& cut) {
  std::vector<Split> splits;
  for (const Move& move : cut.moves) splits.push_back(move.split);
  const auto ledger = inner_->known(splits);
  return std::any_of(cut.moves.begin(), cut.moves.end(), [&](const Move& move) {
    const auto known = ledger.find(move.split);
    return known != ledger.end() && known->second.position > move.from;
  });
}

// True: it was applied.
bool WalWriter::apply_left(const fs::path& path, Claims& claims, const TopicIds& topics) {
  std::error_code ignored;
  const auto discard = [&](const std::string& why) {
    sink_.log_(LogLevel::warning, "an epoch that was left behind is not used: " + why + "; its records are read again",
               {{"file", path.string()}});
    fs::remove(path, ignored);
    return false;
  };
  std::unique_ptr<wal::EpochFile> file;
  try {
    file = wal::EpochFile::open(path);
    if (!file) return false;
    const Fate fate = fate_of(file->end().cut, claims);
    if (fate == Fate::leave && !passed(file->end().cut)) return false;
    // The usual case of a process that died behind its commit.
    if (fate != Fate::apply) return fs::remove(path, ignored), false;
    if (!fits(*file, topics)) return discard("the table's mapping or the topic is another one now");
  } catch (const Error&) {
    throw;
  } catch (const std::exception& broken) {
    return discard(broken.what());
  }
  Cut cut = file->end().cut;
  for (Move& move : cut.moves) move.generation = claims.at(move.split).generation;
  try {
    if (!apply(*file, cut)) return inner_->abort(), discard("it holds rows that cannot be written");
  } catch (const Error& error) {
    // The replay looks for them.
    if (error.fault() == Fault::bad_record) discard("it holds rows that cannot be written");
    throw;
  }
  for (const Move& move : cut.moves) {
    claims.at(move.split).position = move.to;
    claims.at(move.split).epoch = cut.epoch;
  }
  sink_.log_(LogLevel::info, "an epoch that was left behind is written now",
             {{"epoch", std::to_string(number(cut.epoch))}});
  fs::remove(path, ignored);
  return true;
}

bool WalWriter::fits(const wal::EpochFile& file, const TopicIds& topics) const {
  for (const auto& [topic, id] : file.end().topics) {
    const auto now = topics.find(topic);
    if (now == topics.end() || now->second != id) return false;
  }
  bool same = true;
  file.replay([&](const std::string& topic, const std::string& shape,
                  const Batch&) { same = same && sink_.shape_of(topic) == shape; },
              [](std::span<const DeadLetter>) {});
  return same;
}

bool WalWriter::apply(const wal::EpochFile& file, const Cut& cut) {
  fault_point("wal.before_apply");
  std::vector<Reject> rejects;
  file.replay(
      [&](const std::string& topic, const std::string&, const Batch& batch) {
        if (rejects.empty()) inner_->write(topic, batch, WriteMode::streaming, rejects);
      },
      [&](std::span<const DeadLetter> letters) { inner_->set_aside(letters); });
  if (!rejects.empty()) return false;
  inner_->commit(cut);
  return true;
}

wal::EpochFileWriter& WalWriter::file() {
  if (file_) return *file_;
  file_ = std::make_unique<wal::EpochFileWriter>(sink_.folder_, sink_.next_name(task_));
  if (!early_letters_.empty()) file_->letters(early_letters_);
  early_letters_.clear();
  return *file_;
}

TopicIds WalWriter::topics_of(const Cut& cut) const {
  TopicIds ids;
  for (const Move& move : cut.moves) {
    if (const auto id = topics_.find(move.split.topic); id != topics_.end()) ids.insert(*id);
  }
  return ids;
}

// An epoch goes one way or the other as a whole.
void WalWriter::go_direct() {
  if (file_) throw Error(Fault::fatal, "internal: an epoch changed its way in the middle");
  direct_ = true;
  if (!early_letters_.empty()) inner_->set_aside(early_letters_);
  early_letters_.clear();
}

void WalWriter::write(const std::string& topic, const Batch& batch, WriteMode mode, std::vector<Reject>& rejects) {
  // Who looks for a row at fault needs the server's word for each.
  if (mode != WriteMode::streaming || direct_) {
    if (!direct_) go_direct();
    return inner_->write(topic, batch, mode, rejects);
  }
  file().rows(topic, *sink_.shape_of(topic), batch);
}

void WalWriter::set_aside(std::span<const DeadLetter> letters) {
  if (letters.empty()) return;
  if (direct_) return inner_->set_aside(letters);
  if (file_) return file_->letters(letters);
  early_letters_.insert(early_letters_.end(), letters.begin(), letters.end());
  if (early_letters_.size() >= early_letters_max) go_direct();
}

void WalWriter::commit(const Cut& cut) {
  if (direct_ || (!file_ && early_letters_.empty())) {
    direct_ = false;
    return inner_->commit(cut);
  }
  file();  // an epoch of letters only
  fault_point("wal.before_seal");
  file_->seal({cut, topics_of(cut)});
  fault_point("wal.after_seal");
  try {
    if (!apply(*wal::EpochFile::of(*file_), cut)) throw Error(Fault::bad_record, "rows of the epoch cannot be written");
  } catch (const Error& error) {
    // It is no use to anybody: the replay looks for the rows, one by one.
    if (error.fault() == Fault::bad_record) file_->remove();
    throw;
  }
  fault_point("wal.before_remove");
  file_->remove();
  file_.reset();
}

// A sealed epoch stays: the next take-over looks at it.
void WalWriter::abort() noexcept {
  file_.reset();
  early_letters_.clear();
  direct_ = false;
  inner_->abort();
}

}  // namespace sluice
