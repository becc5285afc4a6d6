#include "sources/file/file_source.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>

#include "core/model/error.h"

namespace sluice {
namespace {

using std::chrono::milliseconds;

class FileSourceTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = std::filesystem::temp_directory_path() / "sluice-file-XXXXXX";
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string path(const std::string& name) const { return folder_ / name; }
  void append(const std::string& name, const std::string& text) const {
    std::ofstream{path(name), std::ios::app | std::ios::binary} << text;
  }
  std::string error_of(const std::function<void()>& action) {
    try {
      action();
    } catch (const Error& error) {
      EXPECT_EQ(error.fault(), Fault::fatal);
      return error.what();
    }
    return {};
  }

  std::filesystem::path folder_;
};

struct Line {
  std::string text;
  std::int64_t offset = 0;
  bool operator==(const Line&) const = default;
};

// Polls until the reader is idle; starts what is assigned at `from`, or at its beginning.
std::vector<Line> drain(SourceReader& reader, const Positions& from = {}, std::int64_t* reached = nullptr,
                        std::size_t records_max = 1000) {
  std::vector<Line> lines;
  while (true) {
    const SourceEvent event = reader.poll(records_max, milliseconds{0});
    if (std::holds_alternative<Idle>(event)) return lines;
    if (const auto* given = std::get_if<Assigned>(&event)) {
      Positions starts = from;
      starts.merge(reader.start_positions(given->splits));
      reader.start(starts);
    }
    if (const auto* hole = std::get_if<Reached>(&event); hole != nullptr && reached != nullptr) *reached = hole->offset;
    if (const auto* came = std::get_if<Records>(&event)) {
      EXPECT_LE(came->records.size(), records_max);
      for (const Record& record : came->records) lines.push_back({std::string{record.value.value()}, record.offset});
    }
  }
}

TEST_F(FileSourceTest, LinesAreRecordsNumberedFromZero) {
  append("a", "{\"a\":1}\n{\"a\":2}\r\n{\"a\":3}\n");
  FileSource source{{{path("a")}, 1}};
  EXPECT_EQ(source.begin_positions(), (Positions{{{path("a"), 0}, 0}}));
  EXPECT_EQ(source.end_positions(), (Positions{{{path("a"), 0}, 3}}));
  const auto reader = source.open_reader(0);
  EXPECT_EQ(drain(*reader), (std::vector<Line>{{"{\"a\":1}", 0}, {"{\"a\":2}", 1}, {"{\"a\":3}", 2}}));
  EXPECT_TRUE(reader->caught_up());
  EXPECT_EQ(reader->known_ends(), (Positions{{{path("a"), 0}, 3}}));
}

TEST_F(FileSourceTest, NothingComesBeforeStartAndWhilePaused) {
  append("a", "1\n2\n");
  FileSource source{{{path("a")}, 1}};
  const auto reader = source.open_reader(0);
  EXPECT_TRUE(std::holds_alternative<Assigned>(reader->poll(10, milliseconds{0})));
  EXPECT_TRUE(std::holds_alternative<Idle>(reader->poll(10, milliseconds{0})));
  reader->start({{{path("a"), 0}, 1}});
  EXPECT_EQ(drain(*reader), (std::vector<Line>{{"2", 1}}));
  reader->pause();
  append("a", "3\n");
  EXPECT_EQ(drain(*reader).size(), 0U);
  reader->start({{{path("a"), 0}, 0}});
  EXPECT_EQ(drain(*reader).size(), 3U);
}

TEST_F(FileSourceTest, LineWithoutNewlineWaitsForIt) {
  append("a", "1\n{\"half\":");
  FileSource source{{{path("a")}, 1}};
  const auto reader = source.open_reader(0);
  EXPECT_EQ(drain(*reader), (std::vector<Line>{{"1", 0}}));
  append("a", "2}");
  EXPECT_EQ(drain(*reader).size(), 0U);
  append("a", "\n3\n");
  EXPECT_EQ(drain(*reader), (std::vector<Line>{{"{\"half\":2}", 1}, {"3", 2}}));
}

TEST_F(FileSourceTest, BoundedRunReadsTheLastLineWithoutItsNewline) {
  append("a", "1\n2");
  FileSource source{{{path("a")}, 1}};
  EXPECT_EQ(source.end_positions(), (Positions{{{path("a"), 0}, 2}}));
  const auto reader = source.open_reader(0);
  EXPECT_EQ(drain(*reader), (std::vector<Line>{{"1", 0}, {"2", 1}}));

  // The next run goes on behind it, whether its newline has come or not.
  FileSource again{{{path("a")}, 1}};
  const auto other = again.open_reader(0);
  EXPECT_EQ(drain(*other, {{{path("a"), 0}, 2}}).size(), 0U);
  append("a", "\n3\n");
  EXPECT_EQ(drain(*other), (std::vector<Line>{{"3", 2}}));
  EXPECT_EQ(drain(*reader), (std::vector<Line>{{"3", 2}}));
}

TEST_F(FileSourceTest, LineThatGrowsAfterItWasReadIsAnError) {
  append("a", "1\n2");
  FileSource source{{{path("a")}, 1}};
  source.end_positions();
  const auto reader = source.open_reader(0);
  EXPECT_EQ(drain(*reader).size(), 2U);
  append("a", "345\n");
  EXPECT_NE(error_of([&] { drain(*reader); }).find(path("a") + " was written on in line 1"), std::string::npos);
}

TEST_F(FileSourceTest, EmptyLinesAreHolesAndTheLastIsReached) {
  append("a", "1\n\n\n2\n\r\n\n");
  FileSource source{{{path("a")}, 1}};
  EXPECT_EQ(source.end_positions().begin()->second, 6);
  const auto reader = source.open_reader(0);
  std::int64_t reached = 0;
  EXPECT_EQ(drain(*reader, {}, &reached), (std::vector<Line>{{"1", 0}, {"2", 3}}));
  EXPECT_EQ(reached, 6);
}

TEST_F(FileSourceTest, TasksShareTheFiles) {
  for (const char* name : {"a", "b", "c"}) append(name, std::string{name} + "\n");
  FileSource source{{{path("a"), path("b"), path("c")}, 2}};
  const auto first = source.open_reader(0);
  const auto second = source.open_reader(1);
  auto lines = drain(*first);
  std::sort(lines.begin(), lines.end(), [](const Line& l, const Line& r) { return l.text < r.text; });
  EXPECT_EQ(lines, (std::vector<Line>{{"a", 0}, {"c", 0}}));
  EXPECT_EQ(drain(*second), (std::vector<Line>{{"b", 0}}));
  EXPECT_EQ(second->split(0), (Split{path("b"), 0}));
}

TEST_F(FileSourceTest, LargeFileFromAnyLineAndBack) {
  constexpr std::int64_t count = 200'000;  // some buffers full
  std::string text;
  for (std::int64_t i = 0; i < count; ++i) text += "{\"number\":" + std::to_string(i) + "}\n";
  text += std::string(3'000'000, 'x') + "\n";  // longer than the buffer
  append("a", text);
  FileSource source{{{path("a")}, 1}};
  EXPECT_EQ(source.end_positions().begin()->second, count + 1);
  const auto reader = source.open_reader(0);
  const auto lines = drain(*reader, {}, nullptr, 777);
  ASSERT_EQ(lines.size(), static_cast<std::size_t>(count + 1));
  for (std::int64_t i = 0; i < count; ++i) {
    const Line& line = lines[static_cast<std::size_t>(i)];
    ASSERT_EQ(line, (Line{"{\"number\":" + std::to_string(i) + "}", i}));
  }
  EXPECT_EQ(lines.back().text.size(), 3'000'000U);
  for (const std::int64_t from : {std::int64_t{0}, std::int64_t{1}, std::int64_t{99'999}, count, count + 1}) {
    reader->start({{{path("a"), 0}, from}});
    const auto rest = drain(*reader);
    ASSERT_EQ(rest.size(), static_cast<std::size_t>(count + 1 - from));
    if (!rest.empty()) {
      EXPECT_EQ(rest.front(), lines[static_cast<std::size_t>(from)]);
    }
  }
}

TEST_F(FileSourceTest, ShrunkenReplacedMissingAndTooShortFilesAreNamed) {
  append("a", "1\n2\n3\n");
  FileSource source{{{path("a")}, 1}};
  const auto reader = source.open_reader(0);
  EXPECT_EQ(drain(*reader).size(), 3U);
  EXPECT_NE(error_of([&] { reader->start({{{path("a"), 0}, 5}}); }).find("ends before line 5"), std::string::npos);
  reader->start({{{path("a"), 0}, 0}});
  EXPECT_EQ(drain(*reader).size(), 3U);
  std::filesystem::resize_file(path("a"), 2);
  EXPECT_NE(error_of([&] { drain(*reader); }).find(path("a") + " has shrunk"), std::string::npos);

  append("b", "1\n");
  FileSource other{{{path("b")}, 1}};
  const auto second = other.open_reader(0);
  EXPECT_EQ(drain(*second).size(), 1U);
  append("c", "1\n2\n");
  std::filesystem::rename(path("c"), path("b"));
  EXPECT_NE(error_of([&] { drain(*second); }).find(path("b") + " was replaced"), std::string::npos);

  FileSource missing{{{path("d")}, 1}};
  EXPECT_NE(error_of([&] { drain(*missing.open_reader(0)); }).find("cannot be opened"), std::string::npos);
  EXPECT_NE(error_of([&] { missing.end_positions(); }).find(path("d")), std::string::npos);
  EXPECT_NE(error_of([&] { FileSource twice({{path("b"), path("b")}, 1}); }).find("twice"), std::string::npos);
}

TEST_F(FileSourceTest, ManyFilesAllGetTheirTurn) {
  for (int i = 0; i < 3000; ++i) append("a", "1\n");
  append("b", "1\n");
  FileSource source{{{path("a"), path("b")}, 1}};
  const auto reader = source.open_reader(0);
  bool b_came = false;
  for (int polls = 0; polls < 5 && !b_came; ++polls) {
    const SourceEvent event = reader->poll(10, milliseconds{0});
    if (const auto* given = std::get_if<Assigned>(&event)) reader->start(reader->start_positions(given->splits));
    if (const auto* came = std::get_if<Records>(&event)) {
      b_came = reader->split(came->records.front().split).topic == path("b");
    }
  }
  EXPECT_TRUE(b_came);
}

}  // namespace
}  // namespace sluice
