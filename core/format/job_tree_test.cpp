#include "core/format/job_tree.h"

#include <gtest/gtest.h>

namespace sluice::format {

namespace {

std::string place_text(const Place& place) {
  return std::to_string(place.line) + ":" + std::to_string(place.column);
}

// The first problem as "line:column: text".
std::string problem_of(std::string_view text) {
  std::vector<Problem> problems;
  parse_json(text, problems);
  return problems.empty() ? "" : place_text(problems.front().place) + ": " + problems.front().text;
}

TEST(JobTree, RemembersWhereEverythingStood) {
  std::vector<Problem> problems;
  const auto root = parse_json(
      "// a, \"comment\": {\n"
      "{ /* two\n"
      "lines */ \"a\": [1, -2.5e3/**/, true,\n"
      "  null, \"x\\\"]\"], \"\xC3\xA4\": {\"b\":\"c\"} }\n",
      problems);
  ASSERT_TRUE(root.has_value());
  EXPECT_TRUE(problems.empty());
  EXPECT_EQ(place_text(root->place), "2:1");
  const auto* list = root->find("a");
  ASSERT_NE(list, nullptr);
  EXPECT_EQ(place_text(list->place), "3:10");
  EXPECT_EQ(place_text(list->value.place), "3:15");
  std::string items;
  for (const auto& item : list->value.items) items += item.text + "@" + place_text(item.place) + " ";
  EXPECT_EQ(items, "1@3:16 -2.5e3@3:19 true@3:31 null@4:3 x\"]@4:9 ");
  const auto* umlaut = root->find("\xC3\xA4");
  ASSERT_NE(umlaut, nullptr);
  EXPECT_EQ(place_text(umlaut->place), "4:18");
  EXPECT_EQ(place_text(umlaut->value.place), "4:23");  // columns count characters
  EXPECT_EQ(umlaut->value.find("b")->value.text, "c");
}

TEST(JobTree, PassesOverAByteOrderMark) {
  std::vector<Problem> problems;
  const auto root = parse_json("\xEF\xBB\xBF{\"a\": 1}", problems);
  ASSERT_TRUE(root.has_value());
  EXPECT_EQ(place_text(root->place), "1:1");
  EXPECT_EQ(place_text(root->find("a")->value.place), "1:7");
}

TEST(JobTree, PointsAtWhatIsNotJson) {
  EXPECT_EQ(problem_of("{\"a\": 1,\n \"b\" 2}").substr(0, 4), "2:6:");
  EXPECT_EQ(problem_of("{\"a\": 1\n \"b\": 2}").substr(0, 4), "2:2:");
  EXPECT_EQ(problem_of("{\"a\": 1,\n\n}").substr(0, 4), "3:1:");
  EXPECT_EQ(problem_of("[1,,2]").substr(0, 4), "1:4:");
  EXPECT_EQ(problem_of("{\"a\": tru}").substr(0, 4), "1:7:");
  EXPECT_EQ(problem_of("{\"a\": 1} x").substr(0, 5), "1:10:");
  EXPECT_EQ(problem_of("{\"a\": 1").substr(0, 4), "1:8:");
  EXPECT_EQ(problem_of("").substr(0, 4), "1:1:");
  EXPECT_EQ(problem_of("{\"a\": 1e999}").substr(0, 4), "1:7:");
}

TEST(JobTree, NeverQuotesWhatItCouldNotRead) {
  for (const auto* text :
       {"{\"url\": \"pw-secret\n\"}", "{\"url\": \"pw-secret", "{\"url\": \"pw-secret; expected pw-secret\\q\"}",
        "{\"url\": \"a\" \"pw-secret\"}", "{\"url\": \"pw-secret\xFF\"}", "{\"url\": secret}"}) {
    const auto problem = problem_of(text);
    EXPECT_NE(problem.find("not JSON: "), std::string::npos) << problem;
    EXPECT_EQ(problem.find("secret"), std::string::npos) << problem;
  }
}

TEST(JobTree, ReportsEveryKeyThatStandsTwice) {
  std::vector<Problem> problems;
  const auto root = parse_json("{\"a\": 1,\n \"a\": 2,\n \"b\": {\"c\": 1, \"c\": 2}}", problems);
  ASSERT_TRUE(root.has_value());
  ASSERT_EQ(problems.size(), 2U);
  EXPECT_EQ(place_text(problems[0].place), "2:2");
  EXPECT_EQ(problems[0].text, "the key \"a\" stands twice, first in line 1; remove one of them");
  EXPECT_EQ(place_text(problems[1].place), "3:16");
  EXPECT_EQ(root->find("a")->value.text, "1");
}

TEST(JobTree, BoundsTheDepth) {
  EXPECT_NE(problem_of(std::string(100'000, '[')).find("1:33: nested deeper"), std::string::npos);
}

}  // namespace

}  // namespace sluice::format
