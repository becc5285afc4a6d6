#include "core/testing/fake_sink.h"

#include <array>
#include <charconv>
#include <span>
#include <utility>

namespace sluice::testing {

namespace {

struct ToCell {
  FakeCell operator()(Null) const { return std::nullopt; }
  FakeCell operator()(bool value) const { return value ? "true" : "false"; }
  FakeCell operator()(std::int64_t value) const { return std::to_string(value); }
  FakeCell operator()(double value) const {
    std::array<char, 32> text{};
    const auto printed = std::to_chars(text.data(), text.data() + text.size(), value);
    return std::string(text.data(), printed.ptr);
  }
  FakeCell operator()(Decimal value) const { return std::string(value.digits); }
  FakeCell operator()(Timestamp value) const { return std::to_string(value.micros_utc); }
  FakeCell operator()(Text value) const { return std::string(value.utf8); }
  FakeCell operator()(Bytes value) const { return std::string(value.raw); }
  FakeCell operator()(Json value) const { return std::string(value.text); }
};

FakeRow key_of(const FakeTable& table, const FakeRow& row) {
  FakeRow key;
  for (const std::size_t column : table.key) key.push_back(row.at(column));
  return key;
}

// A table as a transaction sees it: what is committed and what it has added itself.
class View {
 public:
  explicit View(const FakeTable& committed) : table_(committed) {
    if (table_.key.empty()) return;
    for (std::size_t i = 0; i < table_.rows.size(); ++i) by_key_.emplace(key_of(table_, table_.rows[i]), i);
  }

  // Adds the row as INSERT or upsert would. False: its key is taken, or a constraint refuses it.
  bool add(FakeRow row) {
    if (table_.refuses && table_.refuses(row)) return false;
    std::size_t place = table_.rows.size();
    if (!table_.key.empty()) {
      const auto [same, added] = by_key_.try_emplace(key_of(table_, row), place);
      if (!added && !table_.upsert) return false;
      place = same->second;
    }
    if (place == table_.rows.size()) table_.rows.emplace_back();
    table_.rows[place] = std::move(row);
    return true;
  }
  void erase(const FakeRow& row) {
    const auto same = by_key_.find(key_of(table_, row));
    if (same == by_key_.end()) return;
    table_.rows.erase(table_.rows.begin() + static_cast<std::ptrdiff_t>(same->second));
    for (auto& [key, other] : by_key_) other -= other > same->second ? 1 : 0;
    by_key_.erase(same);
  }
  std::vector<FakeRow> take_rows() { return std::move(table_.rows); }

 private:
  FakeTable table_;
  std::map<FakeRow, std::size_t> by_key_;
};

FakeRow cells_of(std::span<const Value> values) {
  FakeRow cells;
  for (const Value& value : values) cells.push_back(to_fake_cell(value));
  return cells;
}

}  // namespace

FakeCell to_fake_cell(const Value& value) {
  return std::visit(ToCell{}, value);
}

void FakeDatabase::create_table(const std::string& name, FakeTable table) {
  const std::scoped_lock lock(mutex_);
  tables_[name] = std::move(table);
}

void FakeDatabase::upsert_into(const std::string& table) {
  const std::scoped_lock lock(mutex_);
  tables_.at(table).upsert = true;
}

std::vector<FakeRow> FakeDatabase::rows(const std::string& table) const {
  const std::scoped_lock lock(mutex_);
  return tables_.at(table).rows;
}

std::vector<DeadLetter> FakeDatabase::letters() const {
  const std::scoped_lock lock(mutex_);
  return letters_;
}

std::optional<Claim> FakeDatabase::claim(const std::string& job, const std::string& sink, const Split& split) const {
  const std::scoped_lock lock(mutex_);
  const auto found = ledger_.find({job, sink, split});
  return found == ledger_.end() ? std::nullopt : std::optional(found->second.claim);
}

std::optional<std::uint64_t> FakeDatabase::owner(const std::string& job, const std::string& sink,
                                                 const Split& split) const {
  const std::scoped_lock lock(mutex_);
  const auto found = ledger_.find({job, sink, split});
  return found == ledger_.end() ? std::nullopt : found->second.owner;
}

void FakeDatabase::set_claim(const std::string& job, const std::string& sink, const Split& split,
                             const std::optional<Claim>& claim) {
  const std::scoped_lock lock(mutex_);
  sessions_.clear();
  if (!claim) {
    ledger_.erase({job, sink, split});
  } else {
    ledger_[{job, sink, split}] = {*claim, std::nullopt, ""};
  }
}

void FakeDatabase::on_step(Hook hook) {
  const std::scoped_lock lock(mutex_);
  hook_ = std::move(hook);
}

void FakeDatabase::end_all_sessions() {
  const std::scoped_lock lock(mutex_);
  sessions_.clear();
}

void FakeDatabase::keep_sessions_at_take_over() {
  const std::scoped_lock lock(mutex_);
  sessions_kept_ = true;
}

std::size_t FakeDatabase::commits() const {
  const std::scoped_lock lock(mutex_);
  return commits_;
}

void FakeDatabase::step(FakeStep step) const {
  Hook hook;
  {
    const std::scoped_lock lock(mutex_);
    hook = hook_;
  }
  if (hook) hook(step);
}

class FakeWriter final : public SinkWriter {
 public:
  explicit FakeWriter(const FakeSink& sink) : sink_(sink), database_(sink.database_) {
    database_.step(FakeStep::connect);
    const std::scoped_lock lock(database_.mutex_);
    session_ = ++database_.sessions_opened_;
    database_.sessions_.insert(session_);
  }
  ~FakeWriter() override {
    const std::scoped_lock lock(database_.mutex_);
    database_.sessions_.erase(session_);
  }

  std::map<Split, Known> known(const std::vector<Split>& splits) override;
  Claims take_over(const Positions& starts, const Claims& held, const TopicIds& topics) override;
  void write(const std::string& topic, const Batch& batch, WriteMode mode, std::vector<Reject>& rejects) override;
  void set_aside(std::span<const DeadLetter> letters) override;
  void commit(const Cut& cut) override;
  void abort() noexcept override;
  void release(const Claims& claims) override;

 private:
  struct Pending {
    std::string table;
    FakeRow row;
    bool erased = false;
  };

  FakeDatabase::Key key(const Split& split) const { return {sink_.job_, sink_.sink_, split}; }
  void require_alive();
  std::optional<Error> refusal(const Cut& cut) const;
  // The tables with everything that is pending; throws bad_record when they do not take it.
  std::map<std::string, View> views() const;
  std::vector<Pending> accepted(const std::string& table, const Batch& batch, std::vector<Reject>& rejects) const;

  const FakeSink& sink_;
  FakeDatabase& database_;
  std::uint64_t session_ = 0;
  std::map<Split, Generation> seen_;  // what known() said last
  std::vector<Pending> pending_;
  std::vector<DeadLetter> letters_;
};

void FakeWriter::require_alive() {
  if (database_.sessions_.contains(session_)) return;
  abort();
  throw Error(Fault::retryable, "the fake database ended this session");
}

std::map<Split, Known> FakeWriter::known(const std::vector<Split>& splits) {
  database_.step(FakeStep::known);
  const std::scoped_lock lock(database_.mutex_);
  require_alive();
  std::map<Split, Known> all;
  seen_.clear();
  for (const auto& split : splits) {
    const auto found = database_.ledger_.find(key(split));
    if (seen_[split] = {}; found == database_.ledger_.end()) continue;
    const auto& [claim, owner, id] = found->second;
    seen_[split] = claim.generation;
    const auto ids = id.empty() ? std::set<std::string>() : std::set{id};
    all.emplace(split, Known{claim.position, claim.generation, claim.epoch, ids});
  }
  return all;
}

Claims FakeWriter::take_over(const Positions& starts, const Claims& held, const TopicIds& topics) {
  database_.step(FakeStep::before_take_over);
  Claims claims;
  {
    const std::scoped_lock lock(database_.mutex_);
    require_alive();
    for (const auto& [split, start] : starts) {
      const auto mine = held.find(split);
      const auto found = database_.ledger_.find(key(split));
      const auto seen = seen_.find(split);
      if (mine == held.end() && found != database_.ledger_.end() && seen != seen_.end() &&
          seen->second != found->second.claim.generation) {
        throw Error(Fault::retryable, to_string(split) + " was taken over by another writer meanwhile");
      }
      if (mine == held.end() || found == database_.ledger_.end()) continue;
      if (found->second.claim.generation != mine->second.generation) {
        throw Error(Fault::fenced, to_string(split) + " was taken over by another writer");
      }
    }
    for (const auto& [split, start] : starts) {
      auto& entry =
          database_.ledger_.try_emplace(key(split), FakeDatabase::Entry{Claim{start, {}, {}}, {}, {}}).first->second;
      const bool ends = entry.owner && *entry.owner != session_ && !database_.sessions_kept_;
      if (ends) database_.sessions_.erase(*entry.owner);
      entry.claim.generation = Generation{number(entry.claim.generation) + 1};
      entry.owner = session_;
      if (const auto id = topics.find(split.topic); id != topics.end()) entry.topic_id = id->second;
      claims.emplace(split, entry.claim);
    }
  }
  database_.step(FakeStep::after_take_over);
  return claims;
}

void FakeWriter::write(const std::string& topic, const Batch& batch, WriteMode mode, std::vector<Reject>& rejects) {
  database_.step(FakeStep::write);
  const std::scoped_lock lock(database_.mutex_);
  require_alive();
  const std::string table = sink_.table_for(topic);
  if (mode != WriteMode::streaming) {
    for (Pending& one : accepted(table, batch, rejects)) pending_.push_back(std::move(one));
    return;
  }
  for (std::size_t row = 0; row < batch.rows(); ++row) {
    pending_.push_back({table, cells_of(batch.row(row)), batch.kind(row) == RowKind::erase});
  }
}

std::vector<FakeWriter::Pending> FakeWriter::accepted(const std::string& table, const Batch& batch,
                                                      std::vector<Reject>& rejects) const {
  auto all = views();
  View& view = all.try_emplace(table, database_.tables_.at(table)).first->second;
  std::vector<Pending> taken;
  for (std::size_t row = 0; row < batch.rows(); ++row) {
    Pending one{table, cells_of(batch.row(row)), batch.kind(row) == RowKind::erase};
    if (one.erased) view.erase(one.row);
    if (one.erased || view.add(one.row)) {
      taken.push_back(std::move(one));
    } else {
      rejects.push_back({batch.origin(row), "", "the fake table refused the row", RejectClass::constraint, "fake"});
    }
  }
  return taken;
}

void FakeWriter::set_aside(std::span<const DeadLetter> letters) {
  database_.step(FakeStep::write);
  const std::scoped_lock lock(database_.mutex_);
  require_alive();
  letters_.insert(letters_.end(), letters.begin(), letters.end());
}

void FakeWriter::abort() noexcept {
  pending_.clear();
  letters_.clear();
}

std::map<std::string, View> FakeWriter::views() const {
  std::map<std::string, View> views;
  for (const auto& [table, row, erased] : pending_) {
    View& view = views.try_emplace(table, database_.tables_.at(table)).first->second;
    if (erased) view.erase(row);
    if (!erased && !view.add(row)) throw Error(Fault::bad_record, "a fake table refused a row of the epoch");
  }
  return views;
}

std::optional<Error> FakeWriter::refusal(const Cut& cut) const {
  for (const auto& move : cut.moves) {
    const auto found = database_.ledger_.find(key(move.split));
    if (found == database_.ledger_.end()) return Error(Fault::fatal, to_string(move.split) + " is not in the ledger");
    const Claim& claim = found->second.claim;
    if (claim.generation != move.generation) {
      return Error(Fault::fenced, to_string(move.split) + " was taken over by another writer");
    }
    if (claim.position != move.from) {
      return Error(Fault::retryable, "the ledger's position of " + to_string(move.split) + " is another");
    }
  }
  return std::nullopt;
}

void FakeWriter::commit(const Cut& cut) {
  database_.step(FakeStep::before_commit);
  {
    const std::scoped_lock lock(database_.mutex_);
    require_alive();
    auto all = views();
    if (const auto refused = refusal(cut)) {
      abort();
      throw Error(*refused);
    }
    for (auto& [name, view] : all) database_.tables_.at(name).rows = view.take_rows();
    for (const auto& move : cut.moves) {
      Claim& claim = database_.ledger_.at(key(move.split)).claim;
      claim.position = move.to;
      claim.epoch = cut.epoch;
    }
    for (const DeadLetter& letter : letters_) {
      std::erase_if(database_.letters_, [&](const DeadLetter& other) {
        return other.split == letter.split && other.offset == letter.offset;
      });
      database_.letters_.push_back(letter);
    }
    ++database_.commits_;
    abort();
  }
  database_.step(FakeStep::after_commit);
}

void FakeWriter::release(const Claims& claims) {
  database_.step(FakeStep::before_release);
  {
    const std::scoped_lock lock(database_.mutex_);
    require_alive();
    for (const auto& [split, claim] : claims) {
      const auto found = database_.ledger_.find(key(split));
      if (found == database_.ledger_.end() || found->second.claim.generation != claim.generation) continue;
      found->second.owner.reset();
    }
  }
  database_.step(FakeStep::after_release);
}

FakeSink::FakeSink(FakeDatabase& database, std::string job, std::string sink,
                   std::function<std::string(const std::string&)> table_of)
    : database_(database), job_(std::move(job)), sink_(std::move(sink)), table_of_(std::move(table_of)) {}

std::string FakeSink::table_for(const std::string& topic) const {
  return table_of_ ? table_of_(topic) : topic;
}

void FakeSink::prepare(bool) {}

RowShape FakeSink::bind(const std::string& topic, const std::function<std::vector<Field>()>&) {
  const std::scoped_lock lock(database_.mutex_);
  const auto table = database_.tables_.find(table_for(topic));
  if (table == database_.tables_.end()) {
    throw Error(Fault::fatal, "table " + table_for(topic) + " does not exist in the fake database: create_table() it");
  }
  RowShape shape;
  for (const auto& column : table->second.columns) {
    shape.cells.push_back({CellSource::From::value_path, {column}});
  }
  return shape;
}

std::unique_ptr<SinkWriter> FakeSink::open_writer(std::size_t) {
  return std::make_unique<FakeWriter>(*this);
}

Positions FakeSink::positions() {
  const std::scoped_lock lock(database_.mutex_);
  Positions positions;
  for (const auto& [key, entry] : database_.ledger_) {
    if (key.job == job_ && key.sink == sink_) positions.emplace(key.split, entry.claim.position);
  }
  return positions;
}

}  // namespace sluice::testing
