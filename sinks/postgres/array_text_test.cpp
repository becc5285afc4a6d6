#include "sinks/postgres/array_text.h"

#include <gtest/gtest.h>

namespace sluice::postgres {
namespace {

using sql::CellForm;
using sql::CellText;

std::string element(const CellText& cell) {
  std::string array;
  append_array_element(cell, array);
  return array;
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
