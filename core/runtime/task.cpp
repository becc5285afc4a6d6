#include "core/runtime/task.h"

#include <algorithm>
#include <exception>
#include <iterator>
#include <set>
#include <utility>

#include "core/model/fault_point.h"

namespace sluice {

using std::chrono::milliseconds;

namespace {

constexpr milliseconds wait_max{100};
constexpr milliseconds drained_wait_max{5};
constexpr std::size_t outgoing_max = 1000;  // letters that wait for the outbox

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

// The job is not to go on without this record.
class BadRecord final : public Error {
 public:
  BadRecord(const std::string& place, const Reject& reject)
      : Error(Fault::bad_record,
              place + ": " + reject.text() +
                  "; nothing of its epoch was written. Mend the column or the producer, or put such records aside with "
                  "\"errors\": {\"tolerance\": \"all\"}",
              reject.code) {}
};

const Record& record_of(const Reject& reject, std::span<const Record> records) {
  const auto found = std::find_if(records.begin(), records.end(), [&](const Record& record) {
    return record.split == reject.origin.split && record.offset == reject.origin.offset;
  });
  if (found == records.end()) throw Error(Fault::fatal, "internal: a record was refused that was not written");
  return *found;
}

// Where, and in which of several sinks.
std::string place_of(const Reject& reject, const Split& split) {
  const std::string place = to_string(split, reject.origin.offset);
  return reject.sink.empty() ? place : place + " in sink " + reject.sink;
}

DeadLetter letter_from(const Record& record, const Split& split, const Reject& reject) {
  DeadLetter letter;
  letter.split = split;
  letter.offset = record.offset;
  letter.timestamp_ms = record.timestamp_ms;
  if (record.key) letter.key = *record.key;
  if (record.value) letter.value = *record.value;
  for (const Header& header : record.headers) letter.headers.emplace_back(header.name, header.value);
  letter.of = reject.of;
  letter.code = reject.code;
  letter.message = reject.text();
  letter.sink = reject.sink;
  return letter;
}

}  // namespace

Task::Task(const TaskSettings& settings, const TaskParts& parts, std::unique_ptr<SourceReader> reader)
    : settings_(settings),
      parts_(parts),
      machine_(settings.epochs),
      restarts_(settings.restart),
      reader_(std::move(reader)),
      bad_share_(settings.bad_share_max) {}

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
    writer_->name_splits(*reader_);
    take_over_assigned();
  }
  // Once drained, there is little to wait for but the word that all tasks are.
  const auto wait = wish == Wish::finish
                        ? milliseconds(0)
                        : machine_.patience(parts_.clock.now(), drained_ ? drained_wait_max : wait_max);
  std::visit([this](const auto& event) { handle(event); },
             reader_->poll(machine_.rows_left(settings_.batch_rows_max), wait));
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
  // A new topic's table is looked at, and perhaps created, by another session: an open epoch could lock it out.
  if (machine_.open() && !lanes_.contains(topic)) commit_epoch();
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
    if (!to.batch->empty()) {
      writer_->write(topic, *to.batch, isolation_.mode(), rejects_);
    }
    if (!rejects_.empty()) take_rejects(records);
  }
  machine_.consumed(records.size(), value_bytes(records), parts_.clock.now());
}

void Task::take_rejects(std::span<const Record> records) {
  std::vector<DeadLetter> letters;
  std::set<std::pair<SplitIndex, std::int64_t>> refused;  // several sinks may refuse the same record
  for (const Reject& reject : rejects_) {
    const Split& split = reader_->split(reject.origin.split);
    const std::string place = place_of(reject, split);
    if (settings_.on_bad_record == OnBadRecord::stop) throw BadRecord(place, reject);
    if (!reject.code.empty()) isolation_.found();
    if (letters_ == 0 && refused.empty()) first_letter_ = place + ": " + reject.text();
    refused.emplace(reject.origin.split, reject.origin.offset);
    if (settings_.on_bad_record == OnBadRecord::drop) continue;
    letters.push_back(letter_from(record_of(reject, records), split, reject));
    letters.back().epoch = machine_.next_epoch();
  }
  letters_ += refused.size();
  if (settings_.on_bad_record == OnBadRecord::set_aside) writer_->set_aside(letters);
  if (settings_.on_bad_record != OnBadRecord::send) return;
  outgoing_.insert(outgoing_.end(), std::make_move_iterator(letters.begin()), std::make_move_iterator(letters.end()));
  if (outgoing_.size() >= outgoing_max) deliver_letters();
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

void Task::commit_epoch() {
  const std::uint64_t rows = machine_.rows();
  const std::uint64_t bytes = machine_.bytes();
  const std::uint64_t letters = letters_;
  if (bad_share_.exceeded(rows, letters)) {
    throw Error(Fault::fatal, "too many records cannot be written: " + std::to_string(letters) + " of " +
                                  std::to_string(rows) +
                                  " in this epoch, more than errors.max.share allows. The first: " + first_letter_ +
                                  ". None of its rows was written. Mend the job, the table or the producer, or raise "
                                  "errors.max.share");
  }
  deliver_letters();
  if (settings_.delivery == Delivery::at_most_once) writer_->flush();
  const Cut cut = machine_.cut();
  commit(cut);
  restarts_.succeeded();
  if (letters > 0) log_letters(letters);
  bad_share_.committed(rows, letters);
  letters_ = 0;
  parts_.progress.rows += rows - letters;
  parts_.progress.letters += letters;
  parts_.progress.bytes += bytes;
  ++parts_.progress.epochs;
  parts_.progress.last_epoch = number(cut.epoch);
  report();
  isolation_.committed(machine_.ledger_positions());
}

void Task::commit(const Cut& cut) {
  Positions ends;
  for (const auto& move : cut.moves) ends.emplace(move.split, move.to);
  if (settings_.delivery != Delivery::at_most_once) {
    writer_->commit(cut);
    machine_.committed(cut, parts_.clock.now());
    fault_point("task.before_source_commit");
    // The end of a bounded run is seen in these positions.
    const bool for_sure = settings_.delivery == Delivery::at_least_once && settings_.ends;
    return for_sure ? reader_->commit_now(ends) : reader_->committed(ends);
  }
  reader_->commit_now(ends);
  machine_.committed(cut, parts_.clock.now());  // from here on these records are never read again
  fault_point("task.after_source_commit");
  try {
    writer_->commit(cut);
  } catch (const Error& error) {
    const bool unknown = error.fault() == Fault::in_doubt;
    for (const auto& move : cut.moves) {
      parts_.log(
          LogLevel::warning,
          unknown ? "these records are lost or written, nobody knows which, as delivery.guarantee at-most-once allows"
                  : "these records are lost, as delivery.guarantee at-most-once allows",
          {{"split", to_string(move.split)}, {"from", std::to_string(move.from)}, {"before", std::to_string(move.to)}});
    }
    // There is nothing to replay in which the record at fault could be found.
    if (error.fault() == Fault::bad_record) throw Error(Fault::fatal, error.what(), error.code());
    throw;
  }
}

void Task::deliver_letters() {
  if (outgoing_.empty()) return;
  parts_.outbox->deliver(outgoing_);
  outgoing_.clear();
}

void Task::log_letters(std::uint64_t count) {
  const bool dropped = settings_.on_bad_record == OnBadRecord::drop;
  LogFields about = fields();
  about.emplace_back("records", std::to_string(count));
  about.emplace_back("first", first_letter_);
  parts_.log(LogLevel::warning,
             dropped ? "records that cannot be written were dropped, as errors.deadletter says"
                     : "records that cannot be written went to the dead letters",
             about);
}

void Task::give_up_epoch() noexcept {
  if (writer_) writer_->abort();
  writer_.reset();
  machine_.rolled_back();
  isolation_.rolled_back();
  letters_ = 0;
  outgoing_.clear();
  reclaim_all_ = true;
}

void Task::leave(Wish wish) {
  ended_ = true;
  if (wish == Wish::finish && writer_) {
    try {
      fault_point("task.before_release");
      release(machine_.claims());
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
  const std::string text = error.what();
  const bool known = dynamic_cast<const BadRecord*>(&error) != nullptr;
  const bool isolate = error.fault() == Fault::bad_record && !known && !isolation_.exhausted() && !ended_;
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
    pause_reader();
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

void Task::pause_reader() noexcept {
  try {
    if (reader_) reader_->pause();
  } catch (const Error& error) {
    // What it brings meanwhile is dropped.
    parts_.log(LogLevel::warning, error.what(), fields());
  }
}

// The server refused the epoch without saying which record is at fault: the same records again, each one checked.
void Task::start_isolating(const Error& error) {
  parts_.log(LogLevel::info, std::string("looking for the record at fault, the epoch is replayed: ") + error.what(),
             fields());
  isolation_.start(machine_.reached());
}

void Task::report() {
  Positions ends = reader_->known_ends();
  if (settings_.ends) ends.insert(settings_.ends->begin(), settings_.ends->end());  // of splits that were not read yet
  parts_.progress.set_positions(machine_.ledger_positions(), ends);
}

LogFields Task::fields() const {
  return {{"task", std::to_string(settings_.number)}};
}

}  // namespace sluice
