#include "core/testing/simulation.h"

#include <algorithm>
#include <stdexcept>

namespace sluice::testing {

using std::chrono::milliseconds;

namespace {
constexpr std::uint64_t actions = 250;
constexpr std::uint64_t settle_rounds_max = 2000;
}  // namespace

void Simulation::Counts::add(const Counts& other) {
  steps += other.steps;
  rows += other.rows;
  for (const auto& [event, times] : other.events) events[event] += times;
}

Simulation::Simulation(std::uint64_t seed, const SimulationTarget& target)
    : random_(seed),
      target_(target),
      source_(FakeSource::Balance::by_test, [this](milliseconds wait) { clock_.advance(wait); }),
      sink_(target_.sink, [this](SinkCall call) { return mishap(call); }) {
  for (bool Troubles::*kind :
       {&Troubles::crashes, &Troubles::deaths, &Troubles::thefts, &Troubles::deafness, &Troubles::rebalances,
        &Troubles::sleep, &Troubles::failures, &Troubles::lost_answers, &Troubles::in_flight, &Troubles::refusals,
        &Troubles::source_failures, &Troubles::redeliveries, &Troubles::server_restarts, &Troubles::holes,
        &Troubles::bounded}) {
    on_.*kind = chance(50);
  }
  set_up();
}

void Simulation::count(const std::string& event, const std::string& details) {
  ++counts_.events[event];
  if (target_.tell) target_.tell("step " + std::to_string(counts_.steps) + ": " + event + " " + details);
}

void Simulation::set_up() {
  processes_max_ = 1 + below(3);
  tasks_ = 1 + below(2);
  settings_.batch_rows_max = 1 + below(8);
  settings_.epochs.interval = milliseconds(50 + below(1000));
  settings_.epochs.min_pause = milliseconds(below(30));
  settings_.epochs.rows_max = 1 + below(20);
  settings_.restart.initial = milliseconds(1 + below(300));
  settings_.restart.delay_max = milliseconds(500);
  const auto splits = static_cast<std::int32_t>(1 + below(4));
  for (std::int32_t number = 0; number < splits; ++number) {
    const Split split{number % 2 == 0 ? "orders" : "payments", number};
    source_.skip(split, 0);
    splits_[split];
  }
  for (std::uint64_t records = below(20); records > 0; --records) produce();
  for (auto& [split, story] : splits_) {
    if (!chance(25)) continue;
    story.start = static_cast<std::int64_t>(below(static_cast<std::uint64_t>(source_.end_positions().at(split)) + 1));
    source_.start_at(split, story.start);
  }
  if (on_.bounded) settings_.ends = source_.end_positions();
}

void Simulation::produce() {
  auto& [split, story] = *std::next(splits_.begin(), static_cast<std::ptrdiff_t>(below(splits_.size())));
  if (on_.holes && chance(20)) return source_.skip(split, static_cast<std::int64_t>(1 + below(3)));
  const std::int64_t offset = source_.end_positions().at(split);
  const std::string name = to_string(split, offset);
  source_.append(split, "value=" + name);
  story.records.emplace_back(offset, name);
}

Mishap Simulation::mishap(SinkCall call) {
  if (call == SinkCall::settle) return chance(50) ? Mishap::none : Mishap::fails;
  const bool commit = call == SinkCall::commit;
  if (calm_ || !chance(commit ? 30 : 10)) return Mishap::none;
  const auto chosen = static_cast<Mishap>(1 + below(7));
  const bool happens = [&] {
    switch (chosen) {
      case Mishap::none:
        return false;
      case Mishap::fails:
        return on_.failures;
      case Mishap::answer_lost:
        return on_.lost_answers;
      case Mishap::dies_before:
      case Mishap::dies_after:
        return on_.deaths;
      case Mishap::in_flight:
        return commit && on_.in_flight && target_.keeps_locks;
      case Mishap::dies_in_flight:
        return commit && on_.in_flight && on_.deaths && target_.keeps_locks;
      case Mishap::refuses:
        return commit && on_.refusals;
    }
    return false;
  }();
  if (!happens) return Mishap::none;
  count("mishap " + std::to_string(static_cast<int>(chosen)) + (commit ? " at commit" : ""),
        "call " + std::to_string(static_cast<int>(call)));
  return chosen;
}

void Simulation::start_process() {
  auto process = std::make_unique<Process>();
  for (std::size_t number = 0; number < tasks_; ++number) {
    auto member = std::make_unique<Member>();
    TaskSettings settings = settings_;
    settings.number = number;
    Member& made = *member;
    const Log log = [this, &made](LogLevel, std::string_view message, const LogFields&) {
      count("log", name_of(made.reader.value_or(0)) + ": " + std::string(message));
    };
    made.task = std::make_unique<Task>(settings, TaskParts{source_, format_, sink_, clock_, log, made.progress});
    process->members.push_back(std::move(member));
  }
  processes_.push_back(std::move(process));
  count("process started");
}

void Simulation::step(Process& process, Member& member, Task::Wish wish) {
  ++counts_.steps;
  // The task opens its reader in its first turn.
  const bool opens = !member.reader;
  if (opens) member.reader = readers_++;
  bool goes_on = true;
  try {
    goes_on = member.task->step(wish);
  } catch (const Death&) {
    count("death within a call", name_of(*member.reader));
    end(process);
    return check();
  }
  if (!goes_on) {
    const auto& failure = member.task->failure();
    if (failure && (failure->fault() != Fault::fenced || !process.may_be_fenced)) {
      throw std::runtime_error("the task of " + name_of(*member.reader) +
                               " ended that should have gone on: " + failure->what());
    }
    if (failure) {
      count("fenced", name_of(*member.reader));
      end(process);
    }
  } else if (opens) {
    assign_orphans();
  }
  check();
}

// As kill -9: nothing gets a chance to say good-bye.
void Simulation::end(Process& process) {
  processes_.erase(
      std::find_if(processes_.begin(), processes_.end(), [&](const auto& p) { return p.get() == &process; }));
  assign_orphans();
}

Simulation::Process* Simulation::process_of(std::size_t reader) {
  for (const auto& process : processes_) {
    for (const auto& member : process->members) {
      if (member->reader == reader) return process.get();
    }
  }
  return nullptr;
}

// One that the group could give splits to.
std::optional<std::size_t> Simulation::any_reader() {
  std::vector<std::size_t> readers;
  for (const auto& process : processes_) {
    for (const auto& member : process->members) {
      if (member->reader && !member->deaf) readers.push_back(*member->reader);
    }
  }
  return readers.empty() ? std::nullopt : std::optional(readers[below(readers.size())]);
}

void Simulation::assign_orphans() {
  for (const auto& [split, story] : splits_) {
    if (source_.reader_of(split)) continue;
    if (const auto reader = any_reader()) source_.assign(split, *reader);
  }
}

void Simulation::move_split() {
  const Split split = std::next(splits_.begin(), static_cast<std::ptrdiff_t>(below(splits_.size())))->first;
  const auto reader = any_reader();
  if (!reader) return;
  source_.assign(split, *reader);
  count("split moved in order", to_string(split) + " to " + name_of(*reader));
}

// The group believes that a process is dead which only sleeps, or which it cannot reach.
void Simulation::steal() {
  const Split split = std::next(splits_.begin(), static_cast<std::ptrdiff_t>(below(splits_.size())))->first;
  const auto from = source_.reader_of(split);
  const auto to = any_reader();
  if (!from || !to || from == to) return;
  Process* const robbed = process_of(*from);
  if (robbed == nullptr) return;
  const bool deaf = on_.deafness && chance(40);
  robbed->may_be_fenced = true;
  for (const auto& member : robbed->members) {
    if (member->reader == from && deaf) member->deaf = true;
  }
  source_.steal(split, *to, deaf ? FakeSource::Tell::never : FakeSource::Tell::at_next_poll);
  // Whoever does not know that a split is gone may take it over after its new owner did.
  if (deaf) process_of(*to)->may_be_fenced = true;
  if (deaf) {  // the group has written it off, all of its splits go elsewhere
    for (const auto& [other, story] : splits_) {
      if (source_.reader_of(other) == from) source_.steal(other, *to, FakeSource::Tell::never);
    }
  }
  count(deaf ? "split stolen from the deaf" : "split stolen",
        to_string(split) + " from " + name_of(*from) + " to " + name_of(*to));
}

void Simulation::group_trouble() {
  if (on_.rebalances && chance(50)) move_split();
  if (on_.thefts && chance(50)) steal();
  const Split split = std::next(splits_.begin(), static_cast<std::ptrdiff_t>(below(splits_.size())))->first;
  const auto reader = source_.reader_of(split);
  if (!reader) return;
  if (on_.redeliveries && chance(30)) {
    source_.deliver_again(split, static_cast<std::int64_t>(below(static_cast<std::uint64_t>(
                                     std::max<std::int64_t>(1, checked_.contains(split) ? checked_.at(split) : 0)))));
    count("delivered again", to_string(split));
  }
  if (on_.source_failures && chance(30)) {
    source_.fail_poll(*reader, Error(Fault::retryable, "the broker is away"));
    count("source failed", name_of(*reader));
  }
}

void Simulation::trouble() {
  if (processes_.size() < processes_max_ && chance(40)) start_process();
  if (chance(15)) group_trouble();
  if (on_.in_flight && chance(20)) sink_.settle();
  if (on_.server_restarts && target_.end_sessions && chance(2)) {
    target_.end_sessions();
    count("server restarted");
  }
  if (processes_.empty()) return;
  Process& process = *processes_[below(processes_.size())];
  if (on_.sleep && chance(5)) {
    process.asleep_until = counts_.steps + 1 + below(60);
    count("process fell asleep");
  }
  if (on_.crashes && chance(2)) {
    count("process crashed");
    end(process);
  }
}

void Simulation::run() {
  start_process();
  for (std::uint64_t action = 0; action < actions; ++action) {
    trouble();
    if (chance(30)) produce();
    if (chance(10)) clock_.advance(milliseconds(below(200)));
    check();
    if (processes_.empty()) continue;
    Process& process = *processes_[below(processes_.size())];
    if (process.asleep_until > counts_.steps) {
      ++counts_.steps;
      continue;
    }
    step(process, *process.members[below(process.members.size())], Task::Wish::go_on);
  }
  settle();
  finish();
}

// The troubles are over: what is left must be read to the end.
void Simulation::settle() {
  calm_ = true;
  sink_.settle();
  const auto done = [&] {
    const Positions ends = settings_.ends ? *settings_.ends : source_.end_positions();
    return std::all_of(ends.begin(), ends.end(), [&](const auto& end) {
      const auto position = checked_.find(end.first);
      return position != checked_.end() && position->second == end.second;
    });
  };
  for (std::uint64_t round = 0; !done(); ++round) {
    if (round == settle_rounds_max)
      throw std::runtime_error("it does not come to the end although nothing is in its way");
    if (!any_reader() && processes_.size() < processes_max_ + 1) start_process();
    assign_orphans();
    Process& process = *processes_[round % processes_.size()];
    step(process, *process.members[below(process.members.size())], Task::Wish::go_on);
  }
}

void Simulation::finish() {
  while (!processes_.empty()) {
    Process& process = *processes_.front();
    const std::size_t before = processes_.size();
    for (std::size_t number = 0; processes_.size() == before && number < process.members.size(); ++number) {
      Member& member = *process.members[number];
      for (int turn = 0; turn < 3 && processes_.size() == before && member.task; ++turn) {
        step(process, member, Task::Wish::finish);
      }
    }
    if (processes_.size() == before) end(process);
  }
  checked_.clear();
  check();
  for (const auto& [split, story] : splits_) counts_.rows += story.records.size();
}

void Simulation::check() {
  const Positions ledger = target_.sink.positions();
  for (const auto& [split, position] : source_.committed_positions()) {
    if (!ledger.contains(split) || ledger.at(split) < position) {
      throw std::runtime_error(to_string(split, position) + " was told to the source, but the ledger is behind it");
    }
  }
  if (ledger == checked_ && counts_.steps % 16 != 0) return;
  checked_ = ledger;
  check_topic("orders", ledger);
  check_topic("payments", ledger);
}

void Simulation::check_topic(const std::string& topic, const Positions& ledger) const {
  std::map<std::string, std::vector<std::string>> found;  // by split
  for (const auto& row : target_.rows(topic)) found[row.substr(0, row.find('@'))].push_back(row);
  for (const auto& [split, story] : splits_) {
    if (split.topic != topic) continue;
    std::vector<std::string> expected;
    const auto position = ledger.find(split);
    for (const auto& [offset, name] : story.records) {
      if (position != ledger.end() && offset >= story.start && offset < position->second) expected.push_back(name);
    }
    const auto& rows = found[to_string(split)];
    if (rows == expected) continue;
    std::string text = "the table does not hold exactly what is before ";
    text += position == ledger.end() ? to_string(split) : to_string(split, position->second);
    text += "; it has";
    for (const auto& row : rows) text += " " + row;
    throw std::runtime_error(text);
  }
}

}  // namespace sluice::testing
