#include "stores/wal/wal_sink.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <vector>

#include "core/model/error.h"
#include "core/testing/fake_sink.h"

namespace sluice {
namespace {

namespace fs = std::filesystem;
using testing::FakeDatabase;
using testing::FakeSink;
using testing::FakeStep;

// A process of its own over the same folder and database.
struct Process {
  Process(FakeDatabase& database, const fs::path& folder, std::vector<std::string>& lines)
      : inner(database, "job"),
        wal(inner, folder, "job", "main",
            [&lines](LogLevel, std::string_view line, const LogFields&) { lines.emplace_back(line); }) {
    wal.prepare(true);
    wal.bind("orders", [] { return std::vector<Field>{}; });
    writer = wal.open_writer(0);
  }

  FakeSink inner;
  WalSink wal;
  std::unique_ptr<SinkWriter> writer;
};

class WalSinkTest : public ::testing::Test {
 protected:
  WalSinkTest() { database_.create_table("orders", {{"value"}, {}, false, {}, {}}); }
  ~WalSinkTest() override { fs::remove_all(folder_); }

  std::unique_ptr<Process> process() { return std::make_unique<Process>(database_, folder_, lines_); }

  void write(SinkWriter& writer, std::int64_t first, std::int64_t count) {
    Batch batch(1);
    for (std::int64_t i = 0; i < count; ++i) {
      batch.append(RowKind::insert, {0, first + i})[0] = Text{batch.arena().copy(std::to_string(first + i))};
    }
    std::vector<Reject> rejects;
    writer.write("orders", batch, WriteMode::streaming, rejects);
    EXPECT_TRUE(rejects.empty());
  }
  Cut cut(const Claims& claims, std::int64_t to) const {
    return {Epoch{1}, {{split_, claims.at(split_).generation, claims.at(split_).position, to}}};
  }
  void fail_commits() {
    database_.on_step([](FakeStep step) {
      if (step == FakeStep::before_commit) throw Error(Fault::retryable, "the database went away");
    });
  }
  // Leaves an epoch from 0 to 3 that is whole and not written.
  void leave_an_epoch(const TopicIds& topics = {{"orders", "first"}}) {
    fail_commits();
    const auto dying = process();
    const Claims claims = dying->writer->take_over({{split_, 0}}, {}, topics);
    write(*dying->writer, 0, 3);
    EXPECT_THROW(dying->writer->commit(cut(claims, 3)), Error);
    database_.on_step({});
    EXPECT_EQ(files(), 1U);
    EXPECT_TRUE(rows().empty());
  }
  std::size_t files() const { return wal::epoch_files(folder_ / "job.main.epochs", wal::sealed).size(); }
  std::vector<std::string> rows() const {
    std::vector<std::string> values;
    for (const auto& row : database_.rows("orders")) values.push_back(row.front().value_or("NULL"));
    return values;
  }
  using Rows = std::vector<std::string>;

  const Split split_{"orders", 0};
  fs::path folder_ = fs::temp_directory_path() / ("sluice-wal-" + std::to_string(getpid()));
  FakeDatabase database_;
  std::vector<std::string> lines_;
};

TEST_F(WalSinkTest, AnEpochIsWrittenAsAWhole) {
  const auto only = process();
  const Claims claims = only->writer->take_over({{split_, 0}}, {}, {});
  write(*only->writer, 0, 2);
  write(*only->writer, 2, 1);
  EXPECT_TRUE(rows().empty());
  only->writer->commit(cut(claims, 3));
  EXPECT_EQ(rows(), (Rows{"0", "1", "2"}));
  EXPECT_EQ(files(), 0U);
}

TEST_F(WalSinkTest, WhatWasLeftIsWrittenByWhoeverTakesTheSplitOver) {
  leave_an_epoch();
  const auto next = process();
  const Claims claims = next->writer->take_over({{split_, 0}}, {}, {{"orders", "first"}});
  EXPECT_EQ(claims.at(split_).position, 3) << "reading goes on behind it";
  EXPECT_EQ(rows(), (Rows{"0", "1", "2"}));
  EXPECT_EQ(files(), 0U);
  write(*next->writer, 3, 1);
  next->writer->commit(cut(claims, 4));
  EXPECT_EQ(rows(), (Rows{"0", "1", "2", "3"}));
}

TEST_F(WalSinkTest, ALedgerThatHasGoneOnThrowsItAway) {
  leave_an_epoch();
  auto claim = database_.claim("job", "fake", split_).value();
  claim.position = 2;
  database_.set_claim("job", "fake", split_, claim);
  const auto next = process();
  EXPECT_EQ(next->writer->take_over({{split_, 0}}, {}, {{"orders", "first"}}).at(split_).position, 2);
  EXPECT_TRUE(rows().empty());
  EXPECT_EQ(files(), 0U);
}

TEST_F(WalSinkTest, RecordsOfATopicThatIsGoneAreNotWritten) {
  leave_an_epoch();
  const auto next = process();
  EXPECT_EQ(next->writer->take_over({{split_, 0}}, {}, {{"orders", "second"}}).at(split_).position, 0);
  EXPECT_TRUE(rows().empty());
  EXPECT_EQ(files(), 0U);
}

TEST_F(WalSinkTest, RowsOfAnotherMappingAreReadAgain) {
  leave_an_epoch();
  database_.create_table("orders", {{"other"}, {}, false, {}, {}});
  const auto next = process();
  EXPECT_EQ(next->writer->take_over({{split_, 0}}, {}, {{"orders", "first"}}).at(split_).position, 0);
  EXPECT_TRUE(rows().empty());
  EXPECT_EQ(files(), 0U);
}

// The rows are in the transaction alone: nothing may be left that says the epoch is done.
TEST_F(WalSinkTest, AnEpochThatIsLookedThroughRowByRowLeavesNoFile) {
  fail_commits();
  {
    const auto dying = process();
    const Claims claims = dying->writer->take_over({{split_, 0}}, {}, {});
    DeadLetter letter;
    letter.split = split_;
    dying->writer->set_aside({&letter, 1});
    Batch batch(1);
    batch.append(RowKind::insert, {0, 1})[0] = Text{"1"};
    std::vector<Reject> rejects;
    dying->writer->write("orders", batch, WriteMode::isolating, rejects);
    EXPECT_THROW(dying->writer->commit(cut(claims, 2)), Error);
  }
  database_.on_step({});
  EXPECT_EQ(files(), 0U);
  const auto next = process();
  EXPECT_EQ(next->writer->take_over({{split_, 0}}, {}, {}).at(split_).position, 0) << "its rows are read again";
}

TEST_F(WalSinkTest, AnEpochOfLettersOnlyIsKept) {
  const auto only = process();
  const Claims claims = only->writer->take_over({{split_, 0}}, {}, {});
  DeadLetter letter;
  letter.split = split_;
  only->writer->set_aside({&letter, 1});
  only->writer->commit(cut(claims, 1));
  EXPECT_EQ(database_.letters().size(), 1U);
  EXPECT_EQ(database_.claim("job", "fake", split_)->position, 1);
  EXPECT_EQ(files(), 0U);
}

TEST_F(WalSinkTest, AnotherSplitsEpochIsLeftAlone) {
  leave_an_epoch();
  const auto next = process();
  next->writer->take_over({{Split{"orders", 1}, 0}}, {}, {});
  EXPECT_EQ(files(), 1U);
}

TEST_F(WalSinkTest, AnEpochWhoseWriterLivesIsLeftToIt) {
  fail_commits();
  const auto frozen = process();
  const Claims claims = frozen->writer->take_over({{split_, 0}}, {}, {});
  write(*frozen->writer, 0, 3);
  EXPECT_THROW(frozen->writer->commit(cut(claims, 3)), Error);
  database_.on_step({});
  const auto next = process();
  EXPECT_EQ(next->writer->take_over({{split_, 0}}, {}, {}).at(split_).position, 0) << "its records are read again";
  EXPECT_TRUE(rows().empty());
}

TEST_F(WalSinkTest, RowsThatAreRefusedAreSoughtInTheReplay) {
  FakeDatabase refusing;
  refusing.create_table("orders",
                        {{"value"}, {}, false, [](const testing::FakeRow& row) { return row[0] == "1"; }, {}});
  Process only(refusing, folder_, lines_);
  Claims claims = only.writer->take_over({{split_, 0}}, {}, {});
  write(*only.writer, 0, 3);
  try {
    only.writer->commit(cut(claims, 3));
    FAIL() << "a refused row was written";
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::bad_record);
  }
  EXPECT_EQ(files(), 0U) << "it would be refused for ever";
  only.writer = only.wal.open_writer(0);
  claims = only.writer->take_over({{split_, 0}}, claims, {});
  Batch batch(1);
  for (std::int64_t i = 0; i < 3; ++i) batch.append(RowKind::insert, {0, i})[0] = i;
  std::vector<Reject> rejects;
  only.writer->write("orders", batch, WriteMode::isolating, rejects);
  ASSERT_EQ(rejects.size(), 1U);
  EXPECT_EQ(rejects[0].origin.offset, 1);
  only.writer->commit(cut(claims, 3));
  EXPECT_EQ(refusing.rows("orders").size(), 2U);
}

}  // namespace
}  // namespace sluice
