// The runtime as a whole, simulated from one seed: several processes with several tasks each over one group and one
// sink, stepped in a random order, while producers write, processes die, sleep and come back, the group moves splits,
// and calls to the sink fail, lose their answers or stay in flight. A fake clock, one thread: a seed always tells the
// same story.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "core/api/sink.h"
#include "core/runtime/task.h"
#include "core/testing/fake_format.h"
#include "core/testing/fake_source.h"
#include "core/testing/manual_clock.h"
#include "core/testing/unreliable_sink.h"

namespace sluice::testing {

// What the simulation writes to, and how it looks at it from outside.
struct SimulationTarget {
  Sink& sink;  // borrowed; topics "orders" and "payments", their rows have one cell, from the field "value"
  std::function<std::vector<std::string>(const std::string& topic)> rows;  // values of a topic's table, as committed
  std::function<void()> end_sessions;  // a restart of the server; may be empty: it has none
  bool keeps_locks = true;             // a commit in flight makes others wait without blocking this thread
  std::function<void(const std::string& line)> tell;  // hears the story as it goes; may be empty
};

class Simulation {
 public:
  // What the story did, so that a test can see that the seeds together reach all of it.
  struct Counts {
    std::uint64_t steps = 0;
    std::uint64_t rows = 0;
    std::map<std::string, std::uint64_t> events;
    void add(const Counts& other);
  };

  Simulation(std::uint64_t seed, const SimulationTarget& target);

  // Throws std::runtime_error at the first moment at which the guarantee does not hold.
  void run();
  const Counts& counts() const { return counts_; }

 private:
  // Each seed goes without some kinds of trouble, so that rare combinations of the others come up.
  struct Troubles {
    bool crashes, deaths, thefts, deafness, rebalances, sleep, failures, lost_answers, in_flight, refusals;
    bool source_failures, redeliveries, server_restarts, holes, bounded;
  };
  struct Member {
    TaskProgress progress;
    std::unique_ptr<Task> task;
    std::optional<std::size_t> reader;
    bool deaf = false;  // was robbed and will not hear of it
  };
  struct Process {
    std::vector<std::unique_ptr<Member>> members;
    bool may_be_fenced = false;  // it was robbed, or has what another one may still believe to own
    std::uint64_t asleep_until = 0;
  };
  struct Story {  // of one split
    std::vector<std::pair<std::int64_t, std::string>> records;
    std::int64_t start = 0;
  };

  std::uint64_t below(std::uint64_t bound) { return random_() % bound; }
  bool chance(std::uint64_t percent) { return below(100) < percent; }
  Mishap mishap(SinkCall call);
  void count(const std::string& event, const std::string& details = {});
  std::string name_of(std::size_t reader) const { return "reader " + std::to_string(reader); }

  void set_up();
  void produce();
  void start_process();
  void step(Process& process, Member& member, Task::Wish wish);
  void end(Process& process);
  void trouble();
  void group_trouble();
  void steal();
  void move_split();
  void assign_orphans();
  Process* process_of(std::size_t reader);
  std::optional<std::size_t> any_reader();
  void settle();
  void finish();
  void check();
  void check_topic(const std::string& topic, const Positions& ledger) const;

  std::mt19937_64 random_;
  SimulationTarget target_;
  Troubles on_{};
  bool calm_ = false;  // the troubles are over
  ManualClock clock_;
  FakeSource source_;
  FakeFormat format_;
  UnreliableSink sink_;
  TaskSettings settings_;
  std::map<Split, Story> splits_;
  std::vector<std::unique_ptr<Process>> processes_;
  std::size_t processes_max_ = 1;
  std::size_t tasks_ = 1;
  std::size_t readers_ = 0;
  Positions checked_;
  Counts counts_;
};

}  // namespace sluice::testing
