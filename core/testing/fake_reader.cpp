#include <algorithm>
#include <utility>

#include "core/testing/fake_source.h"

namespace sluice::testing {

FakeReader::~FakeReader() {
  close();
}

void FakeReader::close() noexcept {
  if (std::exchange(closed_, true)) return;
  const std::scoped_lock lock(source_.mutex_);
  source_.leave(number_);
}

SourceEvent FakeReader::poll(std::size_t records_max, std::chrono::milliseconds wait_max) {
  std::unique_lock lock(source_.mutex_);
  records_.clear();
  loaded_.clear();
  const auto look = [&]() -> std::optional<SourceEvent> {
    auto& member = source_.members_.at(number_);
    if (member.failure) {
      const Error failure = *member.failure;
      member.failure.reset();
      throw Error(failure);
    }
    for (const auto& [split, offset] : std::exchange(member.rewinds, {})) {
      if (const auto found = cursors_.find(split); found != cursors_.end()) found->second.next = offset;
    }
    if (auto event = group_event()) return event;
    return log_event(records_max);
  };
  if (auto event = look()) return *event;
  if (wait_max.count() == 0) return Idle{};
  if (source_.wait_) {
    lock.unlock();
    source_.wait_(wait_max);
    return Idle{};
  }
  std::optional<SourceEvent> event;
  source_.changed_.wait_for(lock, wait_max, [&] { return (event = look()).has_value(); });
  return event.value_or(Idle{});
}

FakeReader::Cursor& FakeReader::cursor(const Split& split) {
  const auto [found, added] = cursors_.try_emplace(split);
  if (!added) return found->second;
  const auto known = std::find(names_.begin(), names_.end(), split);
  found->second.index = static_cast<SplitIndex>(known - names_.begin());
  if (known == names_.end()) names_.push_back(split);
  return found->second;
}

// What the group wants of this reader: first what was taken from it, then what leaves, then what comes.
std::optional<SourceEvent> FakeReader::group_event() {
  auto& lost = source_.members_.at(number_).lost;
  if (!lost.empty()) {
    Revoked event{std::exchange(lost, {}), true};
    for (const auto& split : event.splits) cursor(split).leaving = true;
    return event;
  }
  Revoked leaving;
  Assigned coming;
  for (auto& [split, log] : source_.logs_) {
    if (log.owner != number_) continue;
    if (log.target != number_ && !log.announced) {  // never told, so nothing to ask back
      log.owner.reset();
      source_.grant(log);
    } else if (log.target != number_ && !log.revoking) {
      log.revoking = true;
      cursor(split).leaving = true;
      leaving.splits.push_back(split);
    } else if (!log.announced) {
      coming.splits.push_back(split);
    }
  }
  if (!leaving.splits.empty()) return leaving;
  if (coming.splits.empty()) return std::nullopt;
  for (const auto& split : coming.splits) {
    source_.logs_.at(split).announced = true;
    cursor(split).started = cursor(split).leaving = false;
  }
  return coming;
}

std::optional<SourceEvent> FakeReader::log_event(std::size_t records_max) {
  if (paused_ || cursors_.empty()) return std::nullopt;
  // A fair share for each, another one first each time, so that batches mix splits and topics.
  const std::size_t share = std::max<std::size_t>(1, (records_max + 1) / 2);
  auto at = std::next(cursors_.begin(), static_cast<std::ptrdiff_t>(turn_++ % cursors_.size()));
  for (std::size_t i = 0; i < cursors_.size(); ++i) {
    auto& [split, cursor] = *at;
    const bool in_log = cursor.next >= source_.logs_.at(split).begin;
    if (cursor.started && !cursor.leaving && in_log)
      load(split, cursor, std::min(share, records_max - records_.size()));
    if (++at == cursors_.end()) at = cursors_.begin();
  }
  if (!records_.empty()) return Records{records_};
  for (auto& [split, cursor] : cursors_) {
    const auto& log = source_.logs_.at(split);
    if (!cursor.started || cursor.leaving || cursor.lost) continue;
    if (cursor.next >= log.begin && cursor.next <= log.end) continue;
    cursor.lost = true;
    return Lost{cursor.index, cursor.next, log.begin, log.end};
  }
  for (auto& [split, cursor] : cursors_) {
    const std::int64_t end = source_.logs_.at(split).end;
    if (!cursor.started || cursor.leaving || cursor.next >= end) continue;
    cursor.next = end;  // no record is left, so that all before the end are holes
    return Reached{cursor.index, end};
  }
  return std::nullopt;
}

void FakeReader::load(const Split& split, Cursor& cursor, std::size_t records_max) {
  const auto& stored = source_.logs_.at(split).records;
  for (auto at = stored.lower_bound(cursor.next); at != stored.end() && records_max > 0; ++at, --records_max) {
    Loaded& copy = loaded_.emplace_back(Loaded{at->second.key, at->second.value});
    Record record;
    record.split = cursor.index;
    record.offset = at->first;
    record.timestamp_ms = at->first;
    if (copy.key) record.key = *copy.key;
    if (copy.value) record.value = *copy.value;
    records_.push_back(record);
    cursor.next = at->first + 1;
  }
}

Positions FakeReader::start_positions(const std::vector<Split>& splits) {
  const std::scoped_lock lock(source_.mutex_);
  Positions positions;
  for (const auto& split : splits) {
    const auto& log = source_.log(split);
    positions.emplace(split, log.start.value_or(log.begin));
  }
  return positions;
}

Positions FakeReader::group_positions(const std::vector<Split>& splits) {
  std::unique_lock lock(source_.mutex_);
  if (const auto happens = std::exchange(source_.before_group_answers_, nullptr)) {
    lock.unlock();
    happens();
    lock.lock();
  }
  Positions told;
  for (const auto& split : splits) {
    if (const auto found = source_.committed_.find(split); found != source_.committed_.end()) told.insert(*found);
  }
  return told;
}

bool FakeReader::still_assigned(const Positions&) {
  const std::scoped_lock lock(source_.mutex_);
  if (source_.denials_ == 0) return true;
  --source_.denials_;
  return false;
}

TopicIds FakeReader::topic_ids(const std::vector<Split>& splits) {
  const std::scoped_lock lock(source_.mutex_);
  TopicIds ids;
  for (const auto& split : splits) ids[split.topic] = "id" + source_.topic_ids_[split.topic];
  return ids;
}

void FakeReader::start(const Positions& from) {
  const std::scoped_lock lock(source_.mutex_);
  for (const auto& [split, position] : from) {
    const auto found = cursors_.find(split);
    if (found == cursors_.end()) throw Error(Fault::fatal, to_string(split) + " was started but never assigned");
    found->second.next = position;
    found->second.lost = false;
    found->second.started = true;
  }
  paused_ = false;
}

void FakeReader::release(const std::vector<Split>& splits) {
  const std::scoped_lock lock(source_.mutex_);
  for (const auto& split : splits) {
    cursors_.erase(split);
    auto& log = source_.log(split);
    if (log.owner != number_ || !log.revoking) continue;
    log.owner.reset();
    source_.grant(log);
  }
  source_.changed_.notify_all();
}

void FakeReader::pause() {
  const std::scoped_lock lock(source_.mutex_);
  paused_ = true;
}

bool FakeReader::caught_up() const {
  const std::scoped_lock lock(source_.mutex_);
  return std::all_of(cursors_.begin(), cursors_.end(), [&](const auto& entry) {
    return !entry.second.started || entry.second.next >= source_.logs_.at(entry.first).end;
  });
}

Positions FakeReader::known_ends() const {
  const std::scoped_lock lock(source_.mutex_);
  Positions ends;
  for (const auto& [split, cursor] : cursors_) {
    if (cursor.started) ends.emplace(split, source_.logs_.at(split).end);
  }
  return ends;
}

void FakeReader::committed(const Positions& positions) noexcept {
  const std::scoped_lock lock(source_.mutex_);
  for (const auto& [split, position] : positions) source_.committed_[split] = position;
}

}  // namespace sluice::testing
