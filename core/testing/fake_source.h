// Splits in memory, and readers that share them as the members of a Kafka group do: in order (Revoked, release, then
// Assigned to the next one) or by theft (lost: the next one has them at once, the former one hears of it later or
// never).
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "core/api/source.h"
#include "core/model/error.h"

namespace sluice::testing {

class FakeReader;

// All of it may be called from any thread. Outlives its readers.
class FakeSource final : public Source {
 public:
  // Who decides which reader has which split.
  enum class Balance {
    automatic,  // spread evenly whenever a reader comes or goes or a split appears
    by_test,    // assign(), revoke() and steal() only
  };
  // Does the reader that was robbed hear of it?
  enum class Tell { at_next_poll, never };

  // `wait` stands for the time that poll() would wait for records: a simulation advances its clock there. Without it
  // poll() blocks for real until something comes.
  explicit FakeSource(Balance balance = Balance::automatic, std::function<void(std::chrono::milliseconds)> wait = {});

  // The log. A split appears with its first mention.
  std::int64_t append(const Split& split, std::string value, std::optional<std::string> key = std::nullopt);
  std::int64_t append_tombstone(const Split& split, std::string key);
  void skip(const Split& split, std::int64_t count = 1);   // offsets that no record has
  void trim(const Split& split, std::int64_t before);      // retention removes what is before
  void create_again(const std::string& topic);             // empty, with another id
  void start_at(const Split& split, std::int64_t offset);  // for splits that the sink does not know; else the begin

  // The group. Readers are numbered from 0 in the order of open_reader(), over all tasks that share the source.
  void assign(const Split& split, std::size_t reader);  // in order: waits for the release by its present reader
  void revoke(const Split& split);                      // in order, to nobody
  void steal(const Split& split, std::size_t reader, Tell tell = Tell::at_next_poll);
  void rebalance();                                                // spreads evenly now, in order
  std::optional<std::size_t> reader_of(const Split& split) const;  // nothing: nobody, also while it is on its way
  std::vector<std::size_t> open_readers() const;

  // Trouble. The next poll() of the reader throws; the reader delivers again from this offset on, without a word.
  void fail_poll(std::size_t reader, const Error& error);
  void deliver_again(const Split& split, std::int64_t from);
  // So many times a reader hears that its splits are not its own any more.
  void deny_assignments(int times);

  // What readers were told by committed(): advisory positions of the group.
  Positions committed_positions() const override;
  void tell_group(const Positions& positions);
  // Happens once, before the next answer to group_positions().
  void when_group_is_asked(std::function<void()> happens);

  std::unique_ptr<SourceReader> open_reader(std::size_t task) override;
  Positions end_positions() override;
  Positions begin_positions() override;

 private:
  friend class FakeReader;

  struct Stored {
    std::optional<std::string> key;
    std::optional<std::string> value;
  };
  struct Log {
    std::map<std::int64_t, Stored> records;
    std::int64_t begin = 0;
    std::int64_t end = 0;
    std::optional<std::int64_t> start;
    // In the group:
    std::optional<std::size_t> owner;
    std::optional<std::size_t> target;
    bool announced = false;  // the owner was told of it
    bool revoking = false;   // the owner was told to release it
  };
  struct Member {
    std::vector<Split> lost;
    std::optional<Error> failure;
    std::map<Split, std::int64_t> rewinds;
  };

  // All with the lock held.
  Log& log(const Split& split);
  void spread();
  void grant(Log& log);
  void leave(std::size_t reader);

  const Balance balance_;
  const std::function<void(std::chrono::milliseconds)> wait_;
  mutable std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  std::map<Split, Log> logs_;
  std::map<std::size_t, Member> members_;
  std::size_t readers_opened_ = 0;
  Positions committed_;
  std::function<void()> before_group_answers_;
  TopicIds topic_ids_;
  int denials_ = 0;
};

class FakeReader final : public SourceReader {
 public:
  FakeReader(FakeSource& source, std::size_t number) : source_(source), number_(number) {}
  ~FakeReader() override;  // without close() it stands for the death of the process

  std::size_t number() const { return number_; }

  SourceEvent poll(std::size_t records_max, std::chrono::milliseconds wait_max) override;
  Positions start_positions(const std::vector<Split>& splits) override;
  Positions group_positions(const std::vector<Split>& splits) override;
  TopicIds topic_ids(const std::vector<Split>& splits) override;
  void start(const Positions& from) override;
  void release(const std::vector<Split>& splits) override;
  void pause() override;
  bool caught_up() const override;
  Positions known_ends() const override;
  bool still_assigned(const Positions& ledger) override;
  void committed(const Positions& positions) noexcept override;
  void commit_now(const Positions& positions) override { committed(positions); }
  const Split& split(SplitIndex index) const override { return names_.at(index); }
  void close() noexcept override;

 private:
  struct Cursor {
    SplitIndex index = 0;
    std::int64_t next = 0;
    bool started = false;
    bool lost = false;  // and told so
    bool leaving = false;
  };
  struct Loaded {
    std::optional<std::string> key;
    std::optional<std::string> value;
  };

  // All with the source's lock held.
  std::optional<SourceEvent> group_event();
  std::optional<SourceEvent> log_event(std::size_t records_max);
  void load(const Split& split, Cursor& cursor, std::size_t records_max);
  Cursor& cursor(const Split& split);

  FakeSource& source_;
  const std::size_t number_;
  std::deque<Split> names_;
  std::map<Split, Cursor> cursors_;
  std::deque<Loaded> loaded_;  // freed by the next poll(), so that a sanitizer sees whoever still looks at it
  std::vector<Record> records_;
  std::size_t turn_ = 0;
  bool paused_ = false;
  bool closed_ = false;
};

}  // namespace sluice::testing
