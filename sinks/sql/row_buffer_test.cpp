#include "sinks/sql/row_buffer.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/model/error.h"

namespace sluice::sql {
namespace {

Column column(const char* name, Family family) {
  Column made;
  made.name = name;
  made.family = family;
  return made;
}

class RowBufferTest : public testing::Test {
 protected:
  void add(std::vector<Value> values) {
    batch_.clear();
    const auto cells = batch_.append(RowKind::insert, {0, offset_++});
    std::copy(values.begin(), values.end(), cells.begin());
    buffer_.add(batch_, 0, rejects_);
  }
  // The second column of the live rows.
  std::vector<std::string> live() const {
    std::vector<std::string> texts;
    for (const std::size_t row : buffer_.live_rows()) texts.emplace_back(buffer_.cell(row, 1).text);
    return texts;
  }

  LoadPlan plan_{"", "t", {column("key", Family::text), column("n", Family::int32)}, {0}, InsertMode::upsert};
  RowBuffer buffer_{plan_, {}};
  Batch batch_{2};
  std::int64_t offset_ = 0;
  std::vector<Reject> rejects_;
};

TEST_F(RowBufferTest, TheLastOfAKeyWinsAtItsOwnPlace) {
  add({Text{"a"}, std::int64_t{1}});
  add({Text{"b"}, std::int64_t{2}});
  add({Text{"a"}, std::int64_t{3}});
  EXPECT_EQ(buffer_.rows(), 2U);
  EXPECT_EQ(live(), (std::vector<std::string>{"2", "3"}));
}

TEST_F(RowBufferTest, KeysOfSeveralColumnsAreNotConfused) {
  plan_.key = {0, 1};
  add({Text{"a1"}, std::int64_t{1}});
  add({Text{"a"}, std::int64_t{11}});
  add({Text{""}, std::int64_t{111}});
  EXPECT_EQ(buffer_.rows(), 3U);
}

TEST_F(RowBufferTest, RowsWithoutAWholeKeyAreNotFolded) {
  plan_.key = {0, 1};
  for (std::int64_t n = 0; n < 2000; ++n) add({Null{}, n % 2});
  add({Text{"a"}, std::int64_t{7}});
  add({Text{"a"}, std::int64_t{7}});
  EXPECT_EQ(buffer_.rows(), 2001U);
}

TEST_F(RowBufferTest, InsertsAreNotFolded) {
  plan_.mode = InsertMode::insert;
  add({Text{"a"}, std::int64_t{1}});
  add({Text{"a"}, std::int64_t{1}});
  EXPECT_EQ(buffer_.rows(), 2U);
}

TEST_F(RowBufferTest, FoldsThousandsOfKeysAndStartsAfresh) {
  for (int round = 0; round < 2; ++round) {
    for (std::int64_t n = 0; n < 9000; ++n) add({Text{std::to_string(n % 3000)}, n});
    ASSERT_EQ(buffer_.rows(), 3000U);
    std::vector<std::string> last;
    for (int n = 6000; n < 9000; ++n) last.push_back(std::to_string(n));
    ASSERT_EQ(live(), last);
    buffer_.clear();
    ASSERT_TRUE(buffer_.empty());
    ASSERT_TRUE(live().empty());
  }
}

TEST_F(RowBufferTest, ARefusedRowNamesItsColumnAndLeavesNothing) {
  add({Text{"a"}, std::int64_t{1}});
  add({Text{"b"}, std::int64_t{1} << 40});
  ASSERT_EQ(rejects_.size(), 1U);
  EXPECT_EQ(rejects_[0].field, "n");
  EXPECT_EQ(rejects_[0].origin.offset, 1);
  add({Text{"c"}, std::int64_t{3}});
  EXPECT_EQ(live(), (std::vector<std::string>{"1", "3"}));
}

}  // namespace
}  // namespace sluice::sql
