#include "core/format/number_text.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <random>
#include <string>

namespace sluice {
namespace {

Value number(std::string_view text) {
  Value value;
  EXPECT_TRUE(read_number(text, value)) << text;
  return value;
}

TEST(NumberText, IntegersThatFitAreInt64) {
  EXPECT_EQ(number("0"), Value(std::int64_t{0}));
  EXPECT_EQ(number("-0"), Value(std::int64_t{0}));
  EXPECT_EQ(number("7"), Value(std::int64_t{7}));
  EXPECT_EQ(number("-12"), Value(std::int64_t{-12}));
  EXPECT_EQ(number("12345678"), Value(std::int64_t{12345678}));
  EXPECT_EQ(number("9007199254740993"), Value(std::int64_t{9007199254740993}));  // no double holds it
  EXPECT_EQ(number("9223372036854775807"), Value(std::numeric_limits<std::int64_t>::max()));
  EXPECT_EQ(number("-9223372036854775808"), Value(std::numeric_limits<std::int64_t>::min()));
}

TEST(NumberText, OtherNumbersKeepTheirDigits) {
  for (const std::string_view text :
       {"9223372036854775808", "-9223372036854775809", "18446744073709551616", "99999999999999999999",
        "123456789012345678901234567890123456", "18446744073709551617", "0.000043129", "-0.0", "-0.10", "1.0", "1e400",
        "1E+5", "2e-7", "5968.540", "12345678.12345678", "100000000000000000000000000000000000000000000e0"}) {
    EXPECT_EQ(number(text), Value(Decimal{text})) << text;
  }
}

TEST(NumberText, GrammarIsStrict) {
  for (const std::string_view text :
       {"",     "-",   "+1",       "01",       "-01",       "00",       "1.",       ".5",         "1e", "1e+",
        "1.e5", "--1", "0x10",     "NaN",      "Inf",       "1_0",      "1,0",      " 1",         "1 ", "1.2.3",
        "1e5.", "1f",  "1234567:", "1234567/", "12345678a", "a2345678", "1234:678", "1234567\xB0"}) {
    Value value = true;
    EXPECT_FALSE(read_number(text, value)) << text;
  }
}

TEST(NumberText, RandomIntegersOfEveryLengthAreExact) {
  std::mt19937_64 random(20260);
  for (int i = 0; i < 20'000; ++i) {
    const auto expected = static_cast<std::int64_t>(random()) >> (random() % 64);
    EXPECT_EQ(number(std::to_string(expected)), Value(expected));
  }
}

}  // namespace
}  // namespace sluice
