#include "sinks/sql/tab_lines.h"

#include <gtest/gtest.h>

#include <string>

namespace sluice::sql {
namespace {

std::string copied(const CellText& cell) {
  TabLines lines(16, "\\\\x");
  lines.begin_line();
  lines.append_field(cell);
  return std::string(lines.text());
}

TEST(TabLines, EachForm) {
  EXPECT_EQ(copied({CellForm::null, {}}), "\\N");
  EXPECT_EQ(copied({CellForm::plain, "-12.5e3"}), "-12.5e3");
  EXPECT_EQ(copied({CellForm::text, "caf\xC3\xA9"}), "caf\xC3\xA9");
  EXPECT_EQ(copied({CellForm::bytes, std::string_view("\0\xFF\n", 3)}), "\\\\x00ff0a");
  EXPECT_EQ(copied({CellForm::text, ""}), "");
}

// Eight bytes are looked at a time: a special byte must be seen at every place of texts of every length.
TEST(TabLines, SpecialBytesAreEscapedAtEveryPlace) {
  const std::string specials = "\\\t\n\r";
  const std::string letters = "\\tnr";
  for (std::size_t length = 1; length <= 40; ++length) {
    for (std::size_t place = 0; place < length; ++place) {
      for (std::size_t i = 0; i < specials.size(); ++i) {
        std::string text(length, 'a');
        text[place] = specials[i];
        std::string expected(length, 'a');
        expected.replace(place, 1, std::string("\\") + letters[i]);
        ASSERT_EQ(copied({CellForm::text, text}), expected) << length << " " << place;
      }
    }
  }
}

TEST(TabLines, OrdinaryBytesStayOfEveryLength) {
  for (std::size_t length = 0; length <= 40; ++length) {
    for (int byte = 1; byte < 256; ++byte) {
      if (byte == '\\' || byte == '\t' || byte == '\n' || byte == '\r') continue;
      const std::string text(length, static_cast<char>(byte));
      ASSERT_EQ(copied({CellForm::text, text}), text) << byte;
    }
  }
}

TEST(TabLines, LinesGrowBeyondTheirFirstRoom) {
  TabLines lines(8, "");
  std::string expected;
  for (int line = 0; line < 100; ++line) {
    lines.begin_line();
    lines.append_field({CellForm::text, "a\tb"});
    lines.append_field({CellForm::plain, "12345678901234567890"});
    expected += std::string(line > 0 ? "\n" : "") + "a\\tb\t12345678901234567890";
  }
  EXPECT_EQ(lines.text(), expected);
  lines.clear();
  EXPECT_TRUE(lines.empty());
  lines.begin_line();
  lines.append_field({CellForm::plain, "1"});
  EXPECT_EQ(lines.text(), "1");
}

TEST(TabLines, ALineOfNoBytesIsALine) {
  TabLines lines(8, "");
  for (const char* text : {"", "a", "", ""}) {
    lines.begin_line();
    lines.append_field({CellForm::text, text});
    EXPECT_FALSE(lines.empty());
  }
  EXPECT_EQ(lines.text(), "\na\n\n");
}

}  // namespace
}  // namespace sluice::sql
