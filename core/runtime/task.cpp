#include "core/runtime/task.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "core/model/fault_point.h"

namespace sluice {

using std::chrono::milliseconds;

namespace {

constexpr milliseconds wait_max{100};
constexpr milliseconds drained_wait_max{5};

// The longest prefix of records that belong to one topic.
std::size_t run_length(std::span<const Record> records, const SourceReader& reader) {
  const SplitIndex first = records.front().split;
  const std::string& topic = reader.split(first).topic;
  std::size_t length = 1;
  while (length < records.size() &&
         (records[length].split == first || reader.split(records[length].split).topic == topic)) {
    ++length;
  }
  return length;
}

std::uint64_t value_bytes(std::span<const Record> records) {
  std::uint64_t bytes = 0;
  for (const auto& record : records) bytes += record.value ? record.value->size() : 0;
  return bytes;
}

}  // namespace

Task::Task(const TaskSettings& settings, const TaskParts& parts, std::unique_ptr<SourceReader> reader)
    : settings_(settings),
      parts_(parts),
      machine_(settings.epochs),
      restarts_(settings.restart),
      reader_(std::move(reader)) {}

Task::~Task() = default;

bool Task::step(Wish wish) {
  if (ended_) return false;
  try {
    turn(wish);
  } catch (const Error& error) {
    on_error(error);
  } catch (const std::exception& error) {
    on_error(Error(Fault::fatal, std::string("internal: ") + error.what()));
  }
  return !ended_;
}

void Task::turn(Wish wish) {
  if (wish == Wish::abort) return leave(wish);
  if (!reader_) reader_ = parts_.source.open_reader(settings_.number);
  if (resume_at_) {
    if (wish == Wish::finish) return leave(wish);
    const auto left = std::chrono::ceil<milliseconds>(*resume_at_ - parts_.clock.now());
    // The reader's place in its group must outlive the database's absence. At the end, too: a process that slept must
    // hear what the group took from it before it takes anything over.
    std::visit([this](const auto& event) { handle(event); },
               reader_->poll(1, std::clamp(left, milliseconds(0), wait_max)));
    if (left.count() > 0) return;
    resume_at_.reset();
    parts_.progress.backing_off = false;
  }
  if (!writer_) {
    writer_ = parts_.sink.open_writer(settings_.number);
    take_over_assigned();
  }
  // Once drained, there is little to wait for but the word that all tasks are.
  const auto wait = wish == Wish::finish
                        ? milliseconds(0)
                        : machine_.patience(parts_.clock.now(), drained_ ? drained_wait_max : wait_max);
  std::visit([this](const auto& event) { handle(event); }, reader_->poll(settings_.batch_rows_max, wait));
  if (machine_.open() && (wish == Wish::finish || machine_.due(parts_.clock.now(), reader_->caught_up())))
    commit_epoch();
  drained_ = settings_.ends && !machine_.open() && machine_.at_bounds();
  if (wish == Wish::finish) leave(wish);
}

void Task::handle(const Records& event) {
  if (!writer_) return;  // backing off: whatever still comes will be read again
  std::span<const Record> rest = event.records;
  while (!rest.empty()) {
    const std::size_t length = run_length(rest, *reader_);
    const std::string& topic = reader_->split(rest.front().split).topic;
    write_run(topic, rest.first(length));
    rest = rest.subspan(length);
  }
}

void Task::write_run(const std::string& topic, std::span<const Record> run) {
  accepted_.clear();
  std::size_t kept = 0;  // as long as nothing is dropped, the run is passed on as it is
  for (const Record& record : run) {
    OwnedSplit* const split = owned(record.split);
    const bool accepted = split != nullptr && split->accept(record.offset);
    if (accepted && kept == static_cast<std::size_t>(&record - run.data())) {
      ++kept;
    } else if (accepted) {
      if (accepted_.empty()) accepted_.assign(run.begin(), run.begin() + static_cast<std::ptrdiff_t>(kept));
      accepted_.push_back(record);
    }
  }
  const std::span<const Record> records = accepted_.empty() ? run.first(kept) : std::span<const Record>(accepted_);
  if (!records.empty()) {
    Lane& to = lane(topic, records);
    to.batch->clear();
    rejects_.clear();
    to.decoder->decode(records, *to.batch, rejects_);
    if (!rejects_.empty()) throw BadRecord(rejects_.front().origin, rejects_.front().field, rejects_.front().reason);
    if (!to.batch->empty()) {
      writer_->write(topic, *to.batch, isolate_until_ ? WriteMode::isolating : WriteMode::streaming);
    }
  }
  machine_.consumed(records.size(), value_bytes(records), parts_.clock.now());
}

Task::Lane& Task::lane(const std::string& topic, std::span<const Record> sample) {
  const auto found = lanes_.find(topic);
  if (found != lanes_.end()) return found->second;
  const RowShape shape = parts_.sink.bind(topic, [&] { return parts_.format.infer(sample); });
  Lane made{parts_.format.decoder(shape, *reader_), std::make_unique<Batch>(shape.cells.size())};
  return lanes_.emplace(topic, std::move(made)).first->second;
}

OwnedSplit* Task::owned(SplitIndex index) {
  if (index >= by_index_.size()) by_index_.resize(index + 1, nullptr);
  if (by_index_[index] == nullptr) by_index_[index] = machine_.find(reader_->split(index));
  return by_index_[index];
}

void Task::handle(const Reached& event) {
  if (OwnedSplit* const split = owned(event.split); writer_ && split != nullptr) {
    split->reach(event.offset);
    machine_.consumed(0, 0, parts_.clock.now());
  }
}

void Task::handle(const Assigned& event) {
  assigned_.insert(event.splits.begin(), event.splits.end());
  fault_point("task.assigned");
  if (!writer_) return;  // taken over when the task resumes
  if (machine_.open()) commit_epoch();
  take_over_assigned();
}

// Takes over what the reader was assigned and this task does not own yet; after a failure, when it is not certain what
// the ledger says, everything.
void Task::take_over_assigned() {
  Claims held = machine_.claims();
  held.insert(held_before_.begin(), held_before_.end());
  std::vector<Split> wanted;
  for (const auto& split : assigned_) {
    if (reclaim_all_ || !held.contains(split)) wanted.push_back(split);
  }
  if (wanted.empty()) return;
  Positions starts = writer_->known(wanted);
  std::vector<Split> unknown;
  std::copy_if(wanted.begin(), wanted.end(), std::back_inserter(unknown),
               [&](const Split& split) { return !starts.contains(split); });
  if (!unknown.empty()) starts.merge(reader_->start_positions(unknown));
  // A generation that grew may be the work of this task's own last try, whose answer was lost.
  if (take_over_in_doubt_) held.clear();
  const Claims claims = take_over(starts, held);
  machine_.own(claims);
  held_before_.clear();
  reclaim_all_ = false;
  by_index_.clear();
  Positions from;
  for (const auto& [split, claim] : claims) {
    from.emplace(split, claim.position);
    if (!settings_.ends) continue;
    const auto end = settings_.ends->find(split);
    machine_.find(split)->bound(end == settings_.ends->end() ? 0 : end->second);
  }
  fault_point("task.before_seek");
  reader_->start(from);
  report();
}

Claims Task::take_over(const Positions& starts, const Claims& held) {
  try {
    Claims claims = writer_->take_over(starts, held);
    take_over_in_doubt_ = false;
    return claims;
  } catch (const Error& error) {
    take_over_in_doubt_ = take_over_in_doubt_ || error.fault() == Fault::in_doubt;
    throw;
  }
}

void Task::handle(const Revoked& event) {
  std::exception_ptr failed;
  Claims leaving;
  const Claims claims = machine_.claims();
  for (const auto& split : event.splits) {
    if (const auto claim = claims.find(split); claim != claims.end()) leaving.insert(*claim);
    assigned_.erase(split);
  }
  try {
    if (event.lost) {
      if (machine_.open()) throw Error(Fault::retryable, "the group gave partitions of this task to another member");
    } else if (writer_) {
      if (machine_.open()) commit_epoch();
      fault_point("task.before_release");
      if (!leaving.empty()) writer_->release(leaving);
    }
  } catch (const Error&) {
    // The splits must leave all the same, or the whole group waits. What the epoch held is read again by their next
    // owner.
    failed = std::current_exception();
    give_up_epoch();
  }
  machine_.disown(event.splits);
  by_index_.clear();
  reader_->release(event.splits);
  report();
  if (failed) std::rethrow_exception(failed);
}

void Task::commit_epoch() {
  const std::uint64_t rows = machine_.rows();
  const std::uint64_t bytes = machine_.bytes();
  const Cut cut = machine_.cut();
  writer_->commit(cut);
  machine_.committed(cut, parts_.clock.now());
  restarts_.succeeded();
  fault_point("task.before_source_commit");
  Positions positions;
  for (const auto& move : cut.moves) positions.emplace(move.split, move.to);
  reader_->committed(positions);
  parts_.progress.rows += rows;
  parts_.progress.bytes += bytes;
  ++parts_.progress.epochs;
  parts_.progress.last_epoch = number(cut.epoch);
  report();
  if (isolate_until_) {
    const Positions reached = machine_.ledger_positions();
    const bool passed = std::all_of(isolate_until_->begin(), isolate_until_->end(), [&](const auto& entry) {
      const auto now = reached.find(entry.first);
      return now == reached.end() || now->second >= entry.second;
    });
    if (passed) isolate_until_.reset();
  }
}

void Task::give_up_epoch() noexcept {
  if (writer_) writer_->abort();
  writer_.reset();
  machine_.rolled_back();
  reclaim_all_ = true;
}

void Task::leave(Wish wish) {
  ended_ = true;
  if (wish == Wish::finish && writer_) {
    try {
      fault_point("task.before_release");
      writer_->release(machine_.claims());
    } catch (const Error& error) {
      // Everything is committed; the next owner only has to end our session, which is gone by then.
      parts_.log(LogLevel::warning, std::string("the splits could not be released: ") + error.what(), fields());
    }
  }
  give_up_epoch();
  if (reader_) reader_->close();
}

// The next reader gets its splits by Assigned, as the first one did. What this one held is remembered: a split that
// somebody else has taken over meanwhile shows that two processes use the same identity.
void Task::drop_reader() {
  held_before_ = machine_.claims();
  std::vector<Split> all(assigned_.begin(), assigned_.end());
  for (const auto& [split, claim] : held_before_) all.push_back(split);
  machine_.disown(all);
  assigned_.clear();
  by_index_.clear();
  lanes_.clear();  // their decoders ask the reader for names
  reader_->close();
  reader_.reset();
}

void Task::on_error(const Error& error) {
  const auto* const bad = dynamic_cast<const BadRecord*>(&error);
  const std::string text = bad != nullptr ? where(*bad) : std::string(error.what());
  const bool isolate = error.fault() == Fault::bad_record && bad == nullptr && !isolate_until_ && !ended_;
  if (isolate) start_isolating(error);
  give_up_epoch();
  if (isolate) return;
  if (reader_ && reader_->broken() && !ended_) drop_reader();
  const bool again = error.fault() == Fault::retryable || error.fault() == Fault::in_doubt;
  const auto delay = again && !ended_ ? restarts_.failed(parts_.clock.now()) : std::nullopt;
  if (delay) {
    LogFields about = fields();
    about.emplace_back("fault", to_string(error.fault()));
    about.emplace_back("code", error.code());
    about.emplace_back("again_in_ms", std::to_string(delay->count()));
    about.emplace_back("failures_in_a_row", std::to_string(restarts_.failures_in_a_row()));
    parts_.log(LogLevel::warning, "the epoch was given up and will be replayed: " + text, about);
    ++parts_.progress.restarts;
    parts_.progress.backing_off = true;
    resume_at_ = parts_.clock.now() + *delay;
    if (reader_) reader_->pause();
    return;
  }
  std::string why = text;
  if (again && !ended_) {
    why += "; gave up after " + std::to_string(restarts_.failures_in_a_row()) +
           " failures in a row, as the job's \"restart\" says";
  }
  failure_.emplace(error.fault(), why, error.code());
  if (!ended_ && reader_) reader_->close();
  ended_ = true;
}

// The server refused the epoch without saying which record is at fault: the same records again, each one checked.
void Task::start_isolating(const Error& error) {
  parts_.log(LogLevel::info, std::string("looking for the record at fault, the epoch is replayed: ") + error.what(),
             fields());
  isolate_until_ = machine_.reached();
}

std::string Task::where(const BadRecord& bad) const {
  return to_string(reader_->split(bad.origin().split), bad.origin().offset) + ": " + bad.what();
}

void Task::report() {
  parts_.progress.set_positions(machine_.ledger_positions(), reader_->known_ends());
}

LogFields Task::fields() const {
  return {{"task", std::to_string(settings_.number)}};
}

}  // namespace sluice
