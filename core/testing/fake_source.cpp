#include "core/testing/fake_source.h"

#include <algorithm>
#include <utility>

namespace sluice::testing {

FakeSource::FakeSource(Balance balance, std::function<void(std::chrono::milliseconds)> wait)
    : balance_(balance), wait_(std::move(wait)) {}

FakeSource::Log& FakeSource::log(const Split& split) {
  const auto [found, added] = logs_.try_emplace(split);
  if (added && balance_ == Balance::automatic) spread();
  return found->second;
}

std::int64_t FakeSource::append(const Split& split, std::string value, std::optional<std::string> key) {
  const std::scoped_lock lock(mutex_);
  Log& to = log(split);
  to.records.emplace(to.end, Stored{std::move(key), std::move(value)});
  changed_.notify_all();
  return to.end++;
}

std::int64_t FakeSource::append_tombstone(const Split& split, std::string key) {
  const std::scoped_lock lock(mutex_);
  Log& to = log(split);
  to.records.emplace(to.end, Stored{std::move(key), std::nullopt});
  changed_.notify_all();
  return to.end++;
}

void FakeSource::skip(const Split& split, std::int64_t count) {
  const std::scoped_lock lock(mutex_);
  log(split).end += count;
  changed_.notify_all();
}

void FakeSource::trim(const Split& split, std::int64_t before) {
  const std::scoped_lock lock(mutex_);
  Log& from = log(split);
  from.begin = std::max(from.begin, before);
  from.records.erase(from.records.begin(), from.records.lower_bound(before));
}

void FakeSource::create_again(const std::string& topic) {
  const std::scoped_lock lock(mutex_);
  for (auto& [split, log] : logs_) {
    if (split.topic != topic) continue;
    log.records.clear();
    log.begin = log.end = 0;
  }
  topic_ids_[topic] += "again";
}

void FakeSource::start_at(const Split& split, std::int64_t offset) {
  const std::scoped_lock lock(mutex_);
  log(split).start = offset;
}

void FakeSource::grant(Log& log) {
  if (log.owner || !log.target || !members_.contains(*log.target)) return;
  log.owner = log.target;
  log.announced = log.revoking = false;
}

void FakeSource::assign(const Split& split, std::size_t reader) {
  const std::scoped_lock lock(mutex_);
  Log& moved = log(split);
  moved.target = reader;
  grant(moved);
  changed_.notify_all();
}

void FakeSource::revoke(const Split& split) {
  const std::scoped_lock lock(mutex_);
  log(split).target.reset();
  changed_.notify_all();
}

void FakeSource::steal(const Split& split, std::size_t reader, Tell tell) {
  const std::scoped_lock lock(mutex_);
  Log& moved = log(split);
  if (moved.owner == reader) return;
  if (moved.owner && moved.announced && tell == Tell::at_next_poll) members_[*moved.owner].lost.push_back(split);
  moved.owner.reset();
  moved.target = reader;
  grant(moved);
  changed_.notify_all();
}

void FakeSource::rebalance() {
  const std::scoped_lock lock(mutex_);
  spread();
}

// Sticky: a split moves only from a reader that has at least two more than the one it goes to.
void FakeSource::spread() {
  if (members_.empty()) return;
  std::map<std::size_t, std::vector<Log*>> of;
  for (const auto& [number, member] : members_) of[number];
  const auto by_size = [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); };
  for (auto& [split, log] : logs_) {
    if (log.target && members_.contains(*log.target)) of[*log.target].push_back(&log);
  }
  for (auto& [split, log] : logs_) {
    if (log.target && members_.contains(*log.target)) continue;
    const auto fewest = std::min_element(of.begin(), of.end(), by_size);
    log.target = fewest->first;
    fewest->second.push_back(&log);
  }
  for (;;) {
    const auto fewest = std::min_element(of.begin(), of.end(), by_size);
    const auto most = std::max_element(of.begin(), of.end(), by_size);
    if (most->second.size() < fewest->second.size() + 2) break;
    Log* const moved = most->second.back();
    most->second.pop_back();
    moved->target = fewest->first;
    fewest->second.push_back(moved);
  }
  for (auto& [split, log] : logs_) grant(log);
  changed_.notify_all();
}

std::optional<std::size_t> FakeSource::reader_of(const Split& split) const {
  const std::scoped_lock lock(mutex_);
  const auto found = logs_.find(split);
  return found == logs_.end() ? std::nullopt : found->second.owner;
}

std::vector<std::size_t> FakeSource::open_readers() const {
  const std::scoped_lock lock(mutex_);
  std::vector<std::size_t> numbers;
  for (const auto& [number, member] : members_) numbers.push_back(number);
  return numbers;
}

void FakeSource::fail_poll(std::size_t reader, const Error& error) {
  const std::scoped_lock lock(mutex_);
  if (const auto found = members_.find(reader); found != members_.end()) found->second.failure.emplace(error);
  changed_.notify_all();
}

void FakeSource::deny_assignments(int times) {
  const std::scoped_lock lock(mutex_);
  denials_ = times;
}

void FakeSource::deliver_again(const Split& split, std::int64_t from) {
  const std::scoped_lock lock(mutex_);
  if (const auto owner = log(split).owner) members_[*owner].rewinds[split] = from;
  changed_.notify_all();
}

Positions FakeSource::committed_positions() const {
  const std::scoped_lock lock(mutex_);
  return committed_;
}

void FakeSource::tell_group(const Positions& positions) {
  const std::scoped_lock lock(mutex_);
  for (const auto& [split, position] : positions) committed_[split] = position;
}

void FakeSource::when_group_is_asked(std::function<void()> happens) {
  const std::scoped_lock lock(mutex_);
  before_group_answers_ = std::move(happens);
}

std::unique_ptr<SourceReader> FakeSource::open_reader(std::size_t) {
  const std::scoped_lock lock(mutex_);
  const std::size_t number = readers_opened_++;
  members_[number];
  for (auto& [split, log] : logs_) grant(log);  // a test may have assigned to it beforehand
  if (balance_ == Balance::automatic) spread();
  return std::make_unique<FakeReader>(*this, number);
}

Positions FakeSource::end_positions() {
  const std::scoped_lock lock(mutex_);
  Positions positions;
  for (const auto& [split, log] : logs_) positions.emplace(split, log.end);
  return positions;
}

Positions FakeSource::begin_positions() {
  const std::scoped_lock lock(mutex_);
  Positions positions;
  for (const auto& [split, log] : logs_) positions.emplace(split, log.begin);
  return positions;
}

void FakeSource::leave(std::size_t reader) {
  if (members_.erase(reader) == 0) return;
  for (auto& [split, log] : logs_) {
    if (log.target == reader) log.target.reset();
    if (log.owner == reader) log.owner.reset();
    grant(log);
  }
  if (balance_ == Balance::automatic) spread();
  changed_.notify_all();
}

}  // namespace sluice::testing
