// A database in memory and a sink that writes to it with the semantics of a real one: epochs are transactions, the
// ledger moves by compare-and-set, generations fence, and what was not committed is gone with its writer.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/api/sink.h"
#include "core/model/error.h"

namespace sluice::testing {

using FakeCell = std::optional<std::string>;  // nothing: NULL
using FakeRow = std::vector<FakeCell>;

struct FakeTable {
  std::vector<std::string> columns;             // top-level fields of the records
  std::vector<std::size_t> key;                 // indexes of the key columns; empty: rows may repeat
  bool upsert = false;                          // a row with a known key replaces the other instead of being refused
  std::function<bool(const FakeRow&)> refuses;  // a CHECK constraint; may be empty
  std::vector<FakeRow> rows;                    // committed ones only, in the order of their commits
};

// Where a test may let something happen: a throw from the hook fails the call, before it had an effect or after it
// (then the writer never learns of it).
enum class FakeStep {
  connect,
  known,
  before_take_over,
  after_take_over,
  write,
  before_commit,
  after_commit,
  before_release,
  after_release
};

// Shared by sinks, writers and the test. All of it may be called from any thread.
class FakeDatabase {
 public:
  using Hook = std::function<void(FakeStep)>;  // called without a lock; may throw Error

  void create_table(const std::string& name, FakeTable table);
  // From now on rows replace those with their key.
  void upsert_into(const std::string& table);
  std::vector<FakeRow> rows(const std::string& table) const;
  // In the order of their commits; a letter of a record that is there already replaces it.
  std::vector<DeadLetter> letters() const;
  // The ledger's row, with the name of its owner; nothing: released or unknown.
  std::optional<Claim> claim(const std::string& job, const std::string& sink, const Split& split) const;
  std::optional<std::uint64_t> owner(const std::string& job, const std::string& sink, const Split& split) const;

  // As a failover to a replica that lagged, or a backup: the ledger's row says this from now on, and every session
  // ends.
  void set_claim(const std::string& job, const std::string& sink, const Split& split,
                 const std::optional<Claim>& claim);
  void on_step(Hook hook);
  // As a restart of the server: every open session fails from now on, open epochs are gone.
  void end_all_sessions();
  // As behind a pooler: a take-over cannot end the session of the former owner, so that only the ledger stops it.
  void keep_sessions_at_take_over();
  std::size_t commits() const;

 private:
  friend class FakeSink;
  friend class FakeWriter;

  struct Key {
    std::string job;
    std::string sink;
    Split split;
    auto operator<=>(const Key&) const = default;
  };
  struct Entry {
    Claim claim;
    std::optional<std::uint64_t> owner;  // a session
    std::string topic_id;
  };

  void step(FakeStep step) const;

  mutable std::mutex mutex_;  // guards what follows
  Hook hook_;
  std::map<std::string, FakeTable> tables_;
  std::map<Key, Entry> ledger_;
  std::vector<DeadLetter> letters_;
  std::set<std::uint64_t> sessions_;  // those that are alive
  std::uint64_t sessions_opened_ = 0;
  bool sessions_kept_ = false;
  std::size_t commits_ = 0;
};

// Topics go to the table of their own name unless `table_of` says otherwise.
class FakeSink final : public Sink {
 public:
  FakeSink(FakeDatabase& database, std::string job, std::string sink = "fake",
           std::function<std::string(const std::string& topic)> table_of = {});

  void prepare(bool migrate) override;
  RowShape bind(const std::string& topic, const std::function<std::vector<Field>()>& infer) override;
  std::unique_ptr<SinkWriter> open_writer(std::size_t task) override;
  Positions positions() override;

 private:
  friend class FakeWriter;

  std::string table_for(const std::string& topic) const;

  FakeDatabase& database_;
  const std::string job_;
  const std::string sink_;
  const std::function<std::string(const std::string&)> table_of_;
};

// A cell as the fake database shows it: what a person would write, bytes as they are.
FakeCell to_fake_cell(const Value& value);

}  // namespace sluice::testing
