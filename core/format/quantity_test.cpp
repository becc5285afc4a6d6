#include "core/format/quantity.h"

#include <gtest/gtest.h>

namespace sluice::format {

namespace {

using std::chrono::milliseconds;

TEST(Quantity, ReadsDurations) {
  EXPECT_EQ(parse_duration("500ms"), milliseconds{500});
  EXPECT_EQ(parse_duration("5s"), milliseconds{5'000});
  EXPECT_EQ(parse_duration("10min"), milliseconds{600'000});
  EXPECT_EQ(parse_duration("1h"), milliseconds{3'600'000});
  EXPECT_EQ(parse_duration("2d"), milliseconds{172'800'000});
  EXPECT_EQ(parse_duration("0"), milliseconds{0});
  EXPECT_EQ(parse_duration("0s"), milliseconds{0});
  EXPECT_EQ(parse_duration("3650d"), milliseconds{3650LL * 86'400'000});
}

TEST(Quantity, RefusesWhatIsNoDuration) {
  for (const auto* text : {"", "5", "s", "5 s", "5S", "5m", "-5s", "+5s", "1.5s", "5s ", "3651d",
                           "99999999999999999999s", "18446744073709551615d"}) {
    EXPECT_EQ(parse_duration(text), std::nullopt) << text;
  }
}

TEST(Quantity, ReadsSizes) {
  EXPECT_EQ(parse_size("256MiB"), 268'435'456U);
  EXPECT_EQ(parse_size("10MB"), 10'000'000U);
  EXPECT_EQ(parse_size("64KiB"), 65'536U);
  EXPECT_EQ(parse_size("1GiB"), 1'073'741'824U);
  EXPECT_EQ(parse_size("4096"), 4'096U);
  EXPECT_EQ(parse_size("9223372036854775807"), 9'223'372'036'854'775'807U);
}

TEST(Quantity, RefusesWhatIsNoSize) {
  for (const auto* text : {"", "MiB", "1 MiB", "1mib", "-1", "1.5MiB", "9223372036854775808", "8388608TiB"}) {
    EXPECT_EQ(parse_size(text), std::nullopt) << text;
  }
}

TEST(Quantity, ReadsWholeNumbersOnlyWhole) {
  EXPECT_EQ(parse_whole("-42"), -42);
  EXPECT_EQ(parse_whole("9223372036854775807"), 9'223'372'036'854'775'807);
  for (const auto* text : {"", "4.0", "4e2", " 4", "4 ", "0x4", "9223372036854775808"}) {
    EXPECT_EQ(parse_whole(text), std::nullopt) << text;
  }
}

}  // namespace

}  // namespace sluice::format
