#include "sinks/postgres/copy_text.h"

#include <gtest/gtest.h>

#include <string>

namespace sluice::postgres {
namespace {

using sql::CellForm;
using sql::CellText;

std::string copied(const CellText& cell) {
  CopyLines lines(16);
  lines.begin_line();
  lines.append_field(cell);
  return std::string(lines.text());
}

std::string element(const CellText& cell) {
  std::string array;
  append_array_element(cell, array);
  return array;
}

TEST(CopyText, EachForm) {
  EXPECT_EQ(copied({CellForm::null, {}}), "\\N");
  EXPECT_EQ(copied({CellForm::plain, "-12.5e3"}), "-12.5e3");
  EXPECT_EQ(copied({CellForm::text, "caf\xC3\xA9"}), "caf\xC3\xA9");
  EXPECT_EQ(copied({CellForm::bytes, std::string_view("\0\xFF\n", 3)}), "\\\\x00ff0a");
  EXPECT_EQ(copied({CellForm::text, ""}), "");
}

// Eight bytes are looked at a time: a special byte must be seen at every place of texts of every length.
TEST(CopyText, SpecialBytesAreEscapedAtEveryPlace) {
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

TEST(CopyText, OrdinaryBytesStayOfEveryLength) {
  for (std::size_t length = 0; length <= 40; ++length) {
    for (int byte = 1; byte < 256; ++byte) {
      if (byte == '\\' || byte == '\t' || byte == '\n' || byte == '\r') continue;
      const std::string text(length, static_cast<char>(byte));
      ASSERT_EQ(copied({CellForm::text, text}), text) << byte;
    }
  }
}

TEST(CopyText, LinesGrowBeyondTheirFirstRoom) {
  CopyLines lines(8);
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

TEST(CopyText, ALineOfNoBytesIsALine) {
  CopyLines lines(8);
  for (const char* text : {"", "a", "", ""}) {
    lines.begin_line();
    lines.append_field({CellForm::text, text});
    EXPECT_FALSE(lines.empty());
  }
  EXPECT_EQ(lines.text(), "\na\n\n");
}

TEST(ArrayText, EachForm) {
  EXPECT_EQ(element({CellForm::null, {}}), "NULL");
  EXPECT_EQ(element({CellForm::plain, "12"}), "\"12\"");
  EXPECT_EQ(element({CellForm::text, "NULL"}), "\"NULL\"") << "a text, not the absence of one";
  EXPECT_EQ(element({CellForm::text, R"(a"b\c{},)"}), R"("a\"b\\c{},")");
  EXPECT_EQ(element({CellForm::bytes, "\x01"}), "\"\\\\x01\"");
}

}  // namespace
}  // namespace sluice::postgres
