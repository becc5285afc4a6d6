// Stories that the runtime must survive, each told by its seed. SLUICE_SIM_SEEDS=N tells N of them, SLUICE_SIM_SEED=x
// tells one again.
#include <gtest/gtest.h>

#include <cstdlib>
#include <exception>
#include <functional>
#include <iostream>
#include <string>

#include "core/testing/fake_sink.h"
#include "core/testing/simulation.h"

namespace sluice {

namespace {

using testing::FakeDatabase;
using testing::FakeSink;
using testing::Simulation;
using testing::SimulationTarget;

constexpr std::uint64_t seeds_in_ci = 300;

std::uint64_t number_from(const char* variable, std::uint64_t otherwise) {
  const char* const text = std::getenv(variable);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

// What the story did; a failure names its seed.
Simulation::Counts tell(std::uint64_t seed, const std::function<void(const std::string&)>& listener = {}) {
  FakeDatabase database;
  for (const char* table : {"orders", "payments"}) database.create_table(table, {{"value"}, {}, false, {}, {}});
  if (seed % 2 == 0) database.keep_sessions_at_take_over();
  FakeSink sink(database, "simulation");
  const auto rows = [&](const std::string& topic) {
    std::vector<std::string> values;
    for (const auto& row : database.rows(topic)) values.push_back(row.front().value_or("NULL"));
    return values;
  };
  Simulation simulation(seed, SimulationTarget{sink, rows, [&] { database.end_all_sessions(); }, true, listener});
  try {
    simulation.run();
  } catch (const std::exception& error) {
    ADD_FAILURE() << error.what() << "\nTell it again: SLUICE_SIM_SEED=" << seed;
  }
  return simulation.counts();
}

TEST(RuntimeSimulation, EveryRecordOnceWhateverHappens) {
  if (const std::uint64_t seed = number_from("SLUICE_SIM_SEED", 0)) {
    tell(seed, [](const std::string& line) { std::cout << line << "\n"; });
    return;
  }
  Simulation::Counts all;
  const std::uint64_t seeds = number_from("SLUICE_SIM_SEEDS", seeds_in_ci);
  for (std::uint64_t seed = 1; seed <= seeds && !HasFailure(); ++seed) all.add(tell(seed));
  for (const auto& [event, times] : all.events) RecordProperty(event, std::to_string(times));
  if (HasFailure() || seeds < seeds_in_ci) return;
  EXPECT_GE(all.rows, 50 * seeds);
  for (const char* event : {"death within a call", "delivered again", "fenced", "mishap 1 at commit", "mishap 2",
                            "mishap 2 at commit", "mishap 5 at commit", "mishap 6 at commit", "mishap 7 at commit",
                            "process crashed", "process fell asleep", "process started", "server restarted",
                            "source failed", "split moved in order", "split stolen", "split stolen from the deaf"}) {
    EXPECT_GE(all.events[event], 20U) << "the stories hardly ever tell of: " << event;
  }
}

TEST(RuntimeSimulation, ASeedAlwaysTellsTheSameStory) {
  for (const std::uint64_t seed : {7U, 8U, 9U}) {
    const auto first = tell(seed);
    const auto second = tell(seed);
    EXPECT_EQ(first.steps, second.steps);
    EXPECT_EQ(first.events, second.events);
  }
}

}  // namespace

}  // namespace sluice
