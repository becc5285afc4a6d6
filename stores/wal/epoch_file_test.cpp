#include "stores/wal/epoch_file.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <limits>
#include <stdexcept>
#include <vector>

#include "core/model/error.h"

namespace sluice::wal {
namespace {

namespace fs = std::filesystem;

class EpochFileTest : public ::testing::Test {
 protected:
  EpochFileTest() { fs::create_directories(folder_); }
  ~EpochFileTest() override { fs::remove_all(folder_); }

  static EpochEnd end() {
    return {Cut{Epoch{7}, {{Split{"orders", 2}, Generation{3}, 10, 14}}}, {{"orders", "id-of-topic"}}};
  }
  static Batch every_kind() {
    Batch batch(9);
    const auto row = batch.append(RowKind::update_after, {5, 1234567890123});
    row[1] = true;
    row[2] = std::numeric_limits<std::int64_t>::min();
    row[3] = 0.1;
    row[4] = Decimal{"-12345678901234567890.5"};
    row[5] = Timestamp{-1};
    row[6] = Text{"s\xc3\xa9"};
    row[7] = Bytes{std::string_view("\0\xff", 2)};
    row[8] = Json{R"({"a": 1})"};
    batch.append(RowKind::erase, {});
    return batch;
  }
  static DeadLetter letter() {
    DeadLetter letter;
    letter.split = {"orders", 1};
    letter.offset = 9;
    letter.key = std::string("\xff\0", 2);
    letter.headers = {{"h", "\xfe"}};
    letter.of = RejectClass::constraint;
    letter.code = "23514";
    letter.message = "why";
    letter.epoch = Epoch{7};
    return letter;
  }
  // Sealed by a writer that is gone.
  fs::path sealed_file() {
    EpochFileWriter writer(folder_, "one");
    writer.rows("orders", "shape", every_kind());
    const DeadLetter one = letter();
    writer.letters({&one, 1});
    writer.seal(end());
    return writer.path();
  }
  static std::string content(const fs::path& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  static void write(const fs::path& path, const std::string& bytes) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
  }

  fs::path folder_ = fs::temp_directory_path() / ("sluice-epochs-" + std::to_string(getpid()));
};

TEST_F(EpochFileTest, BringsBackWhatWasPutIn) {
  const auto file = EpochFile::open(sealed_file());
  ASSERT_TRUE(file);
  EXPECT_EQ(file->end().cut.epoch, Epoch{7});
  EXPECT_EQ(file->end().cut.moves, end().cut.moves);
  EXPECT_EQ(file->end().topics, end().topics);
  std::size_t batches = 0;
  std::size_t letters = 0;
  const Batch expected = every_kind();
  file->replay(
      [&](const std::string& topic, const std::string& shape, const Batch& batch) {
        ++batches;
        EXPECT_EQ(topic, "orders");
        EXPECT_EQ(shape, "shape");
        ASSERT_EQ(batch.rows(), expected.rows());
        for (std::size_t row = 0; row < batch.rows(); ++row) {
          EXPECT_EQ(batch.kind(row), expected.kind(row));
          EXPECT_EQ(batch.origin(row), expected.origin(row));
          EXPECT_TRUE(std::equal(batch.row(row).begin(), batch.row(row).end(), expected.row(row).begin()));
        }
      },
      [&](std::span<const DeadLetter> some) {
        ASSERT_EQ(some.size(), 1U);
        ++letters;
        EXPECT_EQ(some[0].split, letter().split);
        EXPECT_EQ(some[0].offset, letter().offset);
        EXPECT_EQ(some[0].key, letter().key);
        EXPECT_EQ(some[0].value, std::nullopt);
        EXPECT_EQ(some[0].headers, letter().headers);
        EXPECT_EQ(some[0].of, letter().of);
        EXPECT_EQ(some[0].code, letter().code);
        EXPECT_EQ(some[0].message, letter().message);
        EXPECT_EQ(some[0].epoch, letter().epoch);
      });
  EXPECT_EQ(batches, 1U);
  EXPECT_EQ(letters, 1U);
}

// Power may fail at any byte, whatever order the disk writes them in.
TEST_F(EpochFileTest, CutOffAnywhereItIsNotRead) {
  const fs::path path = sealed_file();
  const std::string whole = content(path);
  for (std::size_t size = 0; size < whole.size(); ++size) {
    write(path, whole.substr(0, size));
    EXPECT_THROW(EpochFile::open(path), std::runtime_error) << "with " << size << " of " << whole.size() << " bytes";
  }
}

TEST_F(EpochFileTest, ChangedAnywhereItIsNotRead) {
  const fs::path path = sealed_file();
  const std::string whole = content(path);
  for (std::size_t at = 0; at < whole.size(); ++at) {
    std::string changed = whole;
    changed[at] = static_cast<char>(changed[at] ^ 0x10);
    write(path, changed);
    EXPECT_THROW(EpochFile::open(path), std::runtime_error) << "with byte " << at << " changed";
  }
}

TEST_F(EpochFileTest, IsLeftAloneWhileItsWriterLives) {
  EpochFileWriter writer(folder_, "one");
  remove_if_left(writer.path());
  EXPECT_TRUE(fs::exists(writer.path()));
  writer.seal(end());
  EXPECT_EQ(EpochFile::open(writer.path()), nullptr);
  EXPECT_NE(EpochFile::of(writer), nullptr);
}

TEST_F(EpochFileTest, WithoutItsEndItGoesWithItsWriter) {
  { EpochFileWriter writer(folder_, "one"); }
  EXPECT_TRUE(epoch_files(folder_, unfinished).empty());
  write(folder_ / "two.open", "rows");  // as a process leaves it that was killed
  remove_if_left(folder_ / "two.open");
  EXPECT_TRUE(epoch_files(folder_, unfinished).empty());
}

TEST_F(EpochFileTest, NoneIsThereTwice) {
  EpochFileWriter writer(folder_, "one");
  EXPECT_THROW(EpochFileWriter(folder_, "one"), Error);
}

}  // namespace
}  // namespace sluice::wal
