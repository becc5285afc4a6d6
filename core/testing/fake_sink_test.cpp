#include "core/testing/fake_sink.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <memory>

#include "core/testing/conformance_case.h"
#include "core/testing/sink_conformance.h"

namespace sluice::testing {
namespace {

class FakeUnderTest final : public SinkUnderTest {
 public:
  void create_table(const TestTable& table) override {
    FakeTable made;
    for (const TestColumn& column : table.columns) {
      for (const auto& key : table.key) {
        if (key == column.name) made.key.push_back(made.columns.size());
      }
      made.columns.push_back(column.name);
    }
    if (table.refused_note) made.refuses = [note = table.refused_note](const FakeRow& row) { return row[1] == note; };
    database_.create_table(table.name, made);
  }

  std::unique_ptr<Sink> open(const TestJob& job) override {
    if (job.upsert) database_.upsert_into(job.table.value_or(events));
    std::function<std::string(const std::string&)> table_of;
    if (job.table) table_of = [name = *job.table](const std::string&) { return name; };
    return std::make_unique<FakeSink>(database_, job.job, job.sink, table_of);
  }

  std::vector<DeadLetter> letters() override { return database_.letters(); }
  std::vector<TestRow> rows(const TestTable& table) override {
    auto rows = database_.rows(table.name);
    for (TestRow& row : rows) {
      for (std::size_t i = 0; i < row.size(); ++i) row[i] = shown(table.columns[i].kind, row[i]);
    }
    return rows;
  }

 private:
  static FakeCell shown(Kind kind, const FakeCell& cell) {
    if (!cell || (kind != Kind::bytes && kind != Kind::real)) return cell;
    std::array<char, 40> text{};
    if (kind == Kind::real) {
      std::snprintf(text.data(), text.size(), "%.17g", std::stod(*cell));
      return text.data();
    }
    std::string hex;
    for (const char byte : *cell) {
      std::snprintf(text.data(), text.size(), "%02x", static_cast<unsigned>(static_cast<unsigned char>(byte)));
      hex += text.data();
    }
    return hex;
  }

  FakeDatabase database_;
};

const bool registered = add_sink_conformance("Fake", {.make = [] { return std::make_unique<FakeUnderTest>(); }});

class FakeSinkTest : public ::testing::Test {
 protected:
  FakeSinkTest() { database_.create_table(events, {{"id", "note"}, {}, false, {}, {}}); }

  FakeDatabase database_;
  FakeSink sink_{database_, "job"};
};

TEST_F(FakeSinkTest, AHookBeforeAStepLeavesNoTrace) {
  const auto writer = sink_.open_writer(0);
  Claims claims = writer->take_over({{split(0), 0}}, {}, {});
  write_events(*writer, 0, 3);
  database_.on_step([](FakeStep step) {
    if (step == FakeStep::before_commit) throw Error(Fault::retryable, "the hook says so");
  });
  expect_fault(Fault::retryable, [&] { writer->commit(cut_of(1, claims, {{split(0), 3}})); });
  EXPECT_TRUE(database_.rows(events).empty());
  EXPECT_EQ(database_.claim("job", "fake", split(0)), (Claim{0, Generation{1}, Epoch{0}}));
}

TEST_F(FakeSinkTest, AHookAfterACommitLosesTheAnswerOnly) {
  const auto writer = sink_.open_writer(0);
  Claims claims = writer->take_over({{split(0), 0}}, {}, {});
  write_events(*writer, 0, 3);
  database_.on_step([](FakeStep step) {
    if (step == FakeStep::after_commit) throw Error(Fault::in_doubt, "the hook says so");
  });
  expect_fault(Fault::in_doubt, [&] { writer->commit(cut_of(1, claims, {{split(0), 3}})); });
  EXPECT_EQ(database_.rows(events).size(), 3U);
  EXPECT_EQ(database_.claim("job", "fake", split(0)), (Claim{3, Generation{1}, Epoch{1}}));
  EXPECT_EQ(database_.commits(), 1U);
}

TEST_F(FakeSinkTest, ARestartOfTheDatabaseEndsEverySession) {
  const auto writer = sink_.open_writer(0);
  Claims claims = writer->take_over({{split(0), 0}}, {}, {});
  write_events(*writer, 0, 3);
  database_.end_all_sessions();
  expect_fault(Fault::retryable, [&] { writer->commit(cut_of(1, claims, {{split(0), 3}})); });
  expect_fault(Fault::retryable, [&] { writer->known({split(0)}); });
  EXPECT_TRUE(database_.rows(events).empty());
  const auto next = sink_.open_writer(0);
  EXPECT_EQ(number(next->take_over({{split(0), 0}}, {}, {}).at(split(0)).generation), 2U);
}

TEST_F(FakeSinkTest, TheOwnerIsNamedUntilItReleases) {
  const auto writer = sink_.open_writer(0);
  const Claims claims = writer->take_over({{split(0), 0}}, {}, {});
  EXPECT_TRUE(database_.owner("job", "fake", split(0)).has_value());
  writer->release(claims);
  EXPECT_FALSE(database_.owner("job", "fake", split(0)).has_value());
}

}  // namespace
}  // namespace sluice::testing
