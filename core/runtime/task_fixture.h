// For tests: one task on fakes, stepped by hand. Time passes only where the task would wait.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/runtime/task.h"
#include "core/testing/fake_format.h"
#include "core/testing/fake_sink.h"
#include "core/testing/fake_source.h"
#include "core/testing/manual_clock.h"

namespace sluice {

using testing::FakeSource;
using testing::FakeStep;
using Wish = Task::Wish;
using std::chrono::milliseconds;

class TaskTest : public ::testing::Test {
 protected:
  TaskTest()
      : source(FakeSource::Balance::by_test, [this](milliseconds wait) { clock.advance(wait); }),
        sink(database, "job") {
    database.create_table("orders", {{"value"}, {}, false, {}, {}});
    settings.epochs.interval = milliseconds(1000);
    settings.epochs.min_pause = milliseconds(5);
    settings.restart.initial = milliseconds(500);
    source.assign(split, 0);
  }

  // Rolls on until the splits that the group gave to reader 0 are taken over; no record has been polled then.
  void start() {
    task = std::make_unique<Task>(settings, TaskParts{source, format, sink, clock, log(), progress});
    step();
  }
  void step(int times = 1, Wish wish = Wish::go_on) {
    for (int time = 0; time < times; ++time) ASSERT_TRUE(task->step(wish)) << failure();
  }
  // Steps until `done`; a test that waits for what never comes fails.
  void step_until(const std::function<bool()>& done) {
    for (int turn = 0; !done(); ++turn) {
      ASSERT_LT(turn, 1000) << "it does not happen";
      ASSERT_TRUE(task->step(Wish::go_on)) << failure();
    }
  }
  // Steps until the task ends by itself; its failure's text.
  std::string step_to_failure() {
    for (int turn = 0; turn < 1000; ++turn) {
      if (!task->step(Wish::go_on)) return failure();
    }
    return "it did not end";
  }
  std::string failure() const { return task->failure() ? task->failure()->what() : "no failure"; }

  void append(std::initializer_list<const char*> values) {
    for (const char* value : values) append(split, value);
  }
  void append(const Split& to, const std::string& value) { source.append(to, "value=" + value); }
  // The next `times` passages of this step throw, after `passages` that do not.
  void fail(FakeStep at, Fault fault, int times = 1, int passages = 0) {
    const auto left = std::make_shared<std::pair<int, int>>(passages, times);  // hooks are copied
    database.on_step([at, fault, left](FakeStep now) {
      if (now != at || left->first-- > 0 || left->second-- <= 0) return;
      left->first = 0;
      throw Error(fault, "the test let a step fail");
    });
  }

  std::vector<std::string> rows(const std::string& table = "orders") const {
    std::vector<std::string> values;
    for (const auto& row : database.rows(table)) values.push_back(row.front().value_or("NULL"));
    return values;
  }
  std::optional<std::int64_t> ledger(const Split& of) const {
    const auto claim = database.claim("job", "fake", of);
    return claim ? std::optional(claim->position) : std::nullopt;
  }
  std::optional<std::int64_t> ledger() const { return ledger(split); }
  std::uint64_t generation() const { return number(database.claim("job", "fake", split).value().generation); }
  bool owned(const Split& of) const { return database.owner("job", "fake", of).has_value(); }
  bool logged(const std::string& text) const {
    for (const auto& line : lines) {
      if (line.find(text) != std::string::npos) return true;
    }
    return false;
  }
  Log log() {
    return [this](LogLevel, std::string_view message, const LogFields&) { lines.emplace_back(message); };
  }

  using Rows = std::vector<std::string>;
  const Split split{"orders", 0};
  const Split other{"orders", 1};

  testing::ManualClock clock;
  FakeSource source;
  testing::FakeDatabase database;
  testing::FakeSink sink;
  testing::FakeFormat format;
  TaskProgress progress;
  std::vector<std::string> lines;
  TaskSettings settings;
  std::unique_ptr<Task> task;
};

}  // namespace sluice
