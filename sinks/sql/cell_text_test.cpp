#include "sinks/sql/cell_text.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

namespace sluice::sql {
namespace {

Column column(Family family) {
  Column result;
  result.name = "c";
  result.family = family;
  return result;
}

Column numeric(int precision, int scale) {
  Column result = column(Family::numeric);
  result.precision = precision;
  result.scale = scale;
  return result;
}

// The text, or "refused", or "null".
std::string shown(const Value& value, const Column& target, CellRules rules = {}) {
  CellBuffer buffer;
  const CellText cell = cell_text(value, target, buffer, rules);
  switch (cell.form) {
    case CellForm::null:
      return "null";
    case CellForm::refused:
      EXPECT_NE(cell.reason, nullptr);
      EXPECT_NE(std::string_view(cell.reason), "");
      return "refused";
    case CellForm::plain:
      EXPECT_EQ(cell.text.find_first_not_of("0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ+-.: "),
                std::string_view::npos)
          << cell.text;
      break;
    case CellForm::text:
    case CellForm::bytes:
      break;
  }
  return std::string(cell.text);
}

std::string shown(const Value& value, Family family) {
  return shown(value, column(family));
}

Value text(std::string_view utf8) {
  return Text{utf8};
}
Value decimal(std::string_view digits) {
  return Decimal{digits};
}

constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();

TEST(CellText, IntegersAreCheckedAtTheirLimits) {
  EXPECT_EQ(shown(kMax, Family::int64), "9223372036854775807");
  EXPECT_EQ(shown(kMin, Family::int64), "-9223372036854775808");
  EXPECT_EQ(shown(std::int64_t{2147483647}, Family::int32), "2147483647");
  EXPECT_EQ(shown(std::int64_t{2147483648}, Family::int32), "refused");
  EXPECT_EQ(shown(std::int64_t{-2147483648}, Family::int32), "-2147483648");
  EXPECT_EQ(shown(std::int64_t{-2147483649}, Family::int32), "refused");
  EXPECT_EQ(shown(std::int64_t{-32768}, Family::int16), "-32768");
  EXPECT_EQ(shown(std::int64_t{32768}, Family::int16), "refused");
}

TEST(CellText, DecimalsAndTextGoIntoIntegersWhenTheyAreWhole) {
  for (const auto make : {&decimal, &text}) {
    EXPECT_EQ(shown(make("1e3"), Family::int64), "1000");
    EXPECT_EQ(shown(make("5.0"), Family::int64), "5");
    EXPECT_EQ(shown(make("-0.0"), Family::int64), "0");
    EXPECT_EQ(shown(make("120e-1"), Family::int64), "12");
    EXPECT_EQ(shown(make("5.5"), Family::int64), "refused");
    EXPECT_EQ(shown(make("1e-1"), Family::int64), "refused");
    EXPECT_EQ(shown(make("9223372036854775807"), Family::int64), "9223372036854775807");
    EXPECT_EQ(shown(make("9223372036854775808"), Family::int64), "refused");
    EXPECT_EQ(shown(make("-9223372036854775808"), Family::int64), "-9223372036854775808");
    EXPECT_EQ(shown(make("-9223372036854775809"), Family::int64), "refused");
    EXPECT_EQ(shown(make("18446744073709551617"), Family::int64), "refused");  // 1 modulo 2^64
    EXPECT_EQ(shown(make("1e999999999999999999999"), Family::int64), "refused");
    EXPECT_EQ(shown(make("0e999999999999999999999"), Family::int64), "0");
    EXPECT_EQ(shown(make("32768"), Family::int16), "refused");
  }
  EXPECT_EQ(shown(5.0, Family::int32), "5");
  EXPECT_EQ(shown(5.25, Family::int32), "refused");
}

TEST(CellText, OnlyThePlainGrammarIsANumber) {
  for (const auto family : {Family::int64, Family::numeric, Family::float64}) {
    for (const auto* broken : {"", " 1", "1 ", "+1", ".5", "5.", "1e", "1e+", "0x10", "1_000", "1,5", "NaN", "Infinity",
                               "-Infinity", "inf", "--1", "one"}) {
      EXPECT_EQ(shown(text(broken), family), "refused") << broken;
    }
    EXPECT_EQ(shown(true, family), "refused");
    EXPECT_EQ(shown(Json{"[1]"}, family), "refused");
    EXPECT_EQ(shown(Bytes{"1"}, family), "refused");
  }
}

TEST(CellText, ATimestampInAnIntegerColumnIsMilliseconds) {
  EXPECT_EQ(shown(Timestamp{1'700'000'000'123'000}, Family::int64), "1700000000123");
  EXPECT_EQ(shown(Timestamp{1'700'000'000'123'456}, Family::int64), "refused");
}

TEST(CellText, NumericKeepsEveryDigit) {
  EXPECT_EQ(shown(decimal("123456789012345678901234567890.123456"), Family::numeric),
            "123456789012345678901234567890.123456");
  EXPECT_EQ(shown(decimal("0.000043129"), Family::numeric), "0.000043129");
  EXPECT_EQ(shown(kMin, Family::numeric), "-9223372036854775808");
  EXPECT_EQ(shown(text("1e16383"), Family::numeric), "1e16383");
  EXPECT_EQ(shown(text("1e16384"), Family::numeric), "refused");
  EXPECT_EQ(shown(text("1e-16383"), Family::numeric), "1e-16383");
  EXPECT_EQ(shown(text("1e-16384"), Family::numeric), "refused");
  EXPECT_EQ(shown(text("1.5e-16383"), Family::numeric), "refused");
  EXPECT_EQ(shown(0.1, Family::numeric), "0.1");
  EXPECT_EQ(shown(std::nan(""), Family::numeric), "refused");
}

TEST(CellText, NumericOverflowsAfterRounding) {
  EXPECT_EQ(shown(decimal("99.99"), numeric(4, 2)), "99.99");
  EXPECT_EQ(shown(decimal("99.994999"), numeric(4, 2)), "99.994999");
  EXPECT_EQ(shown(decimal("99.995"), numeric(4, 2)), "refused");
  EXPECT_EQ(shown(decimal("-99.995"), numeric(4, 2)), "refused");
  EXPECT_EQ(shown(decimal("100"), numeric(4, 2)), "refused");
  EXPECT_EQ(shown(decimal("1e2"), numeric(4, 2)), "refused");
  EXPECT_EQ(shown(decimal("0.00099e5"), numeric(4, 2)), "0.00099e5");
  EXPECT_EQ(shown(decimal("000099"), numeric(4, 2)), "000099");
  EXPECT_EQ(shown(decimal("0e9"), numeric(4, 2)), "0e9");
  EXPECT_EQ(shown(decimal("1e-9000"), numeric(4, 2)), "1e-9000");
  EXPECT_EQ(shown(std::int64_t{99}, numeric(4, 2)), "99");
  EXPECT_EQ(shown(std::int64_t{100}, numeric(4, 2)), "refused");
}

TEST(CellText, NumericScaleMayExceedThePrecisionOrBeNegative) {
  EXPECT_EQ(shown(decimal("0.0099"), numeric(2, 4)), "0.0099");
  EXPECT_EQ(shown(decimal("0.00994"), numeric(2, 4)), "0.00994");
  EXPECT_EQ(shown(decimal("0.00995"), numeric(2, 4)), "refused");
  EXPECT_EQ(shown(decimal("0.01"), numeric(2, 4)), "refused");
  EXPECT_EQ(shown(decimal("99949"), numeric(3, -2)), "99949");
  EXPECT_EQ(shown(decimal("99950"), numeric(3, -2)), "refused");  // rounds to 100000
  EXPECT_EQ(shown(decimal("49"), numeric(1, -2)), "49");
  EXPECT_EQ(shown(decimal("0.5"), numeric(1, 1)), "0.5");
  EXPECT_EQ(shown(decimal("0.95"), numeric(1, 1)), "refused");
  EXPECT_EQ(shown(decimal("0.94"), numeric(1, 1)), "0.94");
  EXPECT_EQ(shown(decimal("0.5"), numeric(1, 0)), "0.5");
  EXPECT_EQ(shown(decimal("9.5"), numeric(1, 0)), "refused");
}

TEST(CellText, FloatsAreFiniteAndInRange) {
  EXPECT_EQ(shown(decimal("1.7976931348623157e308"), Family::float64), "1.7976931348623157e308");
  EXPECT_EQ(shown(decimal("1e309"), Family::float64), "refused");
  EXPECT_EQ(shown(decimal("-1e400"), Family::float64), "refused");
  EXPECT_EQ(shown(decimal("5e-324"), Family::float64), "5e-324");
  EXPECT_EQ(shown(decimal("1e-400"), Family::float64), "refused");
  EXPECT_EQ(shown(decimal("0e-400"), Family::float64), "0e-400");
  EXPECT_EQ(shown(decimal("3.4028234e38"), Family::float32), "3.4028234e38");
  EXPECT_EQ(shown(decimal("3.5e38"), Family::float32), "refused");
  EXPECT_EQ(shown(text("-0.5"), Family::float32), "-0.5");
  EXPECT_EQ(shown(kMax, Family::float64), "9223372036854775807");
  EXPECT_EQ(shown(0.1, Family::float64), "0.1");
  EXPECT_EQ(shown(std::numeric_limits<double>::infinity(), Family::float64), "refused");
  EXPECT_EQ(shown(std::numeric_limits<double>::max(), Family::float32), "refused");
}

TEST(CellText, BooleansAreTrueAndFalseOnly) {
  EXPECT_EQ(shown(true, Family::boolean), "true");
  EXPECT_EQ(shown(false, Family::boolean), "false");
  EXPECT_EQ(shown(text("true"), Family::boolean), "true");
  EXPECT_EQ(shown(text("TRUE"), Family::boolean), "refused");
  EXPECT_EQ(shown(text("t"), Family::boolean), "refused");
  EXPECT_EQ(shown(std::int64_t{1}, Family::boolean), "refused");
}

TEST(CellText, TextTakesEverythingButBytes) {
  EXPECT_EQ(shown(text("a\tb\\"), Family::text), "a\tb\\");
  EXPECT_EQ(shown(text(""), Family::text), "");
  EXPECT_EQ(shown(std::int64_t{-7}, Family::text), "-7");
  EXPECT_EQ(shown(decimal("1.50"), Family::text), "1.50");
  EXPECT_EQ(shown(0.25, Family::text), "0.25");
  EXPECT_EQ(shown(std::nan(""), Family::text), "refused");
  EXPECT_EQ(shown(true, Family::text), "true");
  EXPECT_EQ(shown(Json{R"({"a": 1})"}, Family::text), R"({"a": 1})");
  EXPECT_EQ(shown(Timestamp{1'500'000}, Family::text), "1970-01-01T00:00:01.500000Z");
  EXPECT_EQ(shown(Bytes{"x"}, Family::text), "refused");
}

TEST(CellText, TextIsNotCopied) {
  const std::string original = "some text";
  CellBuffer buffer;
  const CellText cell = cell_text(Text{original}, column(Family::text), buffer);
  EXPECT_EQ(cell.text.data(), original.data());
  EXPECT_EQ(cell.form, CellForm::text);
}

TEST(CellText, ANulIsRefusedWhereTheDatabaseCannotStoreIt) {
  const std::string_view nul("a\0b", 3);
  Column limited = column(Family::text);
  limited.length_max = 3;
  for (const auto& target : {column(Family::text), limited, column(Family::json), column(Family::other)}) {
    EXPECT_EQ(shown(Text{nul}, target), "refused");
    EXPECT_EQ(shown(Text{nul}, target, {.nul_in_text = true}), nul);
  }
}

TEST(CellText, LengthsCountCodePoints) {
  Column limited = column(Family::text);
  limited.length_max = 3;
  EXPECT_EQ(shown(text("äöü"), limited), "äöü");
  EXPECT_EQ(shown(text("😀😀😀"), limited), "😀😀😀");
  EXPECT_EQ(shown(text("äöüß"), limited), "refused");
  EXPECT_EQ(shown(text("abc "), limited), "refused");
  EXPECT_EQ(shown(std::int64_t{1000}, limited), "refused");
  limited.family = Family::bytes;
  EXPECT_EQ(shown(Bytes{"abc"}, limited), "abc");
  EXPECT_EQ(shown(Bytes{"abcd"}, limited), "refused");
}

TEST(CellText, TextInABinaryColumnIsBase64) {
  EXPECT_EQ(shown(text(""), Family::bytes), "");
  EXPECT_EQ(shown(text("AA=="), Family::bytes), std::string(1, '\0'));
  EXPECT_EQ(shown(text("Zm9vYmE="), Family::bytes), "fooba");
  EXPECT_EQ(shown(text("Zm9vYmFy"), Family::bytes), "foobar");
  EXPECT_EQ(shown(text("+/+/"), Family::bytes), "\xfb\xff\xbf");
  for (const auto* broken :
       {"A", "AA", "AAA", "AA=", "A===", "====", "=AAA", "AA==AAAA", "AB==", "AAB=", "Zm9v\n", "-_-_"}) {
    EXPECT_EQ(shown(text(broken), Family::bytes), "refused") << broken;
  }
  EXPECT_EQ(shown(std::int64_t{1}, Family::bytes), "refused");
  EXPECT_EQ(shown(Json{"[]"}, Family::bytes), "refused");
}

TEST(CellText, DatesAreCalendarDates) {
  EXPECT_EQ(shown(text("2024-02-29"), Family::date), "2024-02-29");
  EXPECT_EQ(shown(text("0001-01-01"), Family::date), "0001-01-01");
  EXPECT_EQ(shown(text("9999-12-31"), Family::date), "9999-12-31");
  for (const auto* broken : {"2023-02-29", "1900-02-29", "2024-13-01", "2024-00-10", "2024-04-31", "0000-01-01",
                             "2024-1-1", "20240101", "2024-01-01T00:00:00", "-2024-01-01", "", "2024-01-01 "}) {
    EXPECT_EQ(shown(text(broken), Family::date), "refused") << broken;
  }
  EXPECT_EQ(shown(std::int64_t{0}, Family::date), "1970-01-01");
  EXPECT_EQ(shown(std::int64_t{-719162}, Family::date), "0001-01-01");
  EXPECT_EQ(shown(std::int64_t{-719163}, Family::date), "refused");
  EXPECT_EQ(shown(std::int64_t{2932896}, Family::date), "9999-12-31");
  EXPECT_EQ(shown(std::int64_t{2932897}, Family::date), "refused");
  EXPECT_EQ(shown(Timestamp{-1}, Family::date), "1969-12-31");
  EXPECT_EQ(shown(decimal("1.0"), Family::date), "refused");
}

TEST(CellText, TimesOfDay) {
  EXPECT_EQ(shown(text("23:59:59.999999"), Family::time), "23:59:59.999999");
  EXPECT_EQ(shown(text("07:30"), Family::time), "07:30:00");
  EXPECT_EQ(shown(std::int64_t{86'399'999}, Family::time), "23:59:59.999000");
  EXPECT_EQ(shown(std::int64_t{86'400'000}, Family::time), "refused");
  EXPECT_EQ(shown(std::int64_t{-1}, Family::time), "refused");
  EXPECT_EQ(shown(Timestamp{-1}, Family::time), "23:59:59.999999");
  for (const auto* broken :
       {"24:00:00", "23:60:00", "23:59:60", "1:00:00", "10:00:00Z", "10:00:00.", "10:00:00.1234567"}) {
    EXPECT_EQ(shown(text(broken), Family::time), "refused") << broken;
  }
}

TEST(CellText, TimestampsAreConvertedToUtc) {
  EXPECT_EQ(shown(text("2024-02-29T12:34:56.789Z"), Family::timestamp), "2024-02-29 12:34:56.789000");
  EXPECT_EQ(shown(text("2024-02-29 12:34:56"), Family::timestamptz), "2024-02-29 12:34:56+00");
  EXPECT_EQ(shown(text("2024-03-01T01:00:00+02:30"), Family::timestamp), "2024-02-29 22:30:00");
  EXPECT_EQ(shown(text("2023-12-31T23:59:59.000001-00:01"), Family::timestamptz), "2024-01-01 00:00:59.000001+00");
  EXPECT_EQ(shown(text("2024-02-29"), Family::timestamp), "2024-02-29 00:00:00");
  EXPECT_EQ(shown(text("9999-12-31T23:59:59.999999Z"), Family::timestamptz), "9999-12-31 23:59:59.999999+00");
  for (const auto* broken :
       {"9999-12-31T23:59:59-00:01", "0001-01-01T00:00:00+00:01", "2023-02-29T00:00:00Z",
        "2024-01-01T00:00:00.1234567Z", "2024-01-01T00:00:00+0100", "2024-01-01T00:00:00+24:00", "2024-01-01T",
        "2024-01-01Z", "2024-01-01T00:00:00 Z", "2024-01-01T00:00:00ZZ", "now", "infinity", "1700000000000"}) {
    EXPECT_EQ(shown(text(broken), Family::timestamp), "refused") << broken;
    EXPECT_EQ(shown(text(broken), Family::timestamptz), "refused") << broken;
  }
}

TEST(CellText, IntegersInTimestampColumnsAreMilliseconds) {
  EXPECT_EQ(shown(std::int64_t{1'700'000'000'123}, Family::timestamp), "2023-11-14 22:13:20.123000");
  EXPECT_EQ(shown(std::int64_t{-1}, Family::timestamptz), "1969-12-31 23:59:59.999000+00");
  EXPECT_EQ(shown(std::int64_t{253402300799999}, Family::timestamp), "9999-12-31 23:59:59.999000");
  EXPECT_EQ(shown(std::int64_t{253402300800000}, Family::timestamp), "refused");
  EXPECT_EQ(shown(kMax, Family::timestamp), "refused");
  EXPECT_EQ(shown(kMin, Family::timestamp), "refused");
  EXPECT_EQ(shown(Timestamp{kMax}, Family::timestamp), "refused");
  EXPECT_EQ(shown(Timestamp{kMin}, Family::text), "refused");
  EXPECT_EQ(shown(true, Family::timestamp), "refused");
}

TEST(CellText, Json) {
  EXPECT_EQ(shown(Json{R"([1, "a"])"}, Family::json), R"([1, "a"])");
  EXPECT_EQ(shown(text("not json"), Family::json), "not json");  // the server judges
  EXPECT_EQ(shown(decimal("1.10"), Family::json), "1.10");
  EXPECT_EQ(shown(true, Family::json), "true");
  EXPECT_EQ(shown(Timestamp{0}, Family::json), "\"1970-01-01T00:00:00Z\"");
  EXPECT_EQ(shown(Bytes{"x"}, Family::json), "refused");
}

TEST(CellText, JsonbCannotHoldTheEscapeOfNul) {
  EXPECT_EQ(shown(Json{R"(["\u0000"])"}, Family::json), "refused");
  EXPECT_EQ(shown(text(R"("x\\\u0000")"), Family::json), "refused");
  EXPECT_EQ(shown(Json{R"(["\\u0000"])"}, Family::json), R"(["\\u0000"])");
  EXPECT_EQ(shown(Json{R"(["u0000\n"])"}, Family::json), R"(["u0000\n"])");
  EXPECT_EQ(shown(Json{R"(["\u0000"])"}, column(Family::json), {.nul_escape_in_json = true}), R"(["\u0000"])");
  Column json = column(Family::json);
  json.type_name = "json";
  EXPECT_EQ(shown(Json{R"(["\u0000"])"}, json), R"(["\u0000"])");
}

TEST(CellText, Uuids) {
  constexpr auto kUuid = "123e4567-E89B-12d3-a456-426614174000";
  EXPECT_EQ(shown(text(kUuid), Family::uuid), kUuid);
  EXPECT_EQ(shown(text("123e4567E89B12d3a456426614174000"), Family::uuid), kUuid);
  for (const auto* broken :
       {"", "123e4567", "123e4567-E89B-12d3-a456-42661417400", "123e4567-E89B-12d3-a456-42661417400g",
        "123e4567E-89B-12d3-a456-426614174000", "{23e4567E89B12d3a45642661417400}"}) {
    EXPECT_EQ(shown(text(broken), Family::uuid), "refused") << broken;
  }
  EXPECT_EQ(shown(std::int64_t{1}, Family::uuid), "refused");
}

TEST(CellText, AnUnknownTypeIsLeftToTheServer) {
  EXPECT_EQ(shown(text("{1,2}"), Family::other), "{1,2}");
  EXPECT_EQ(shown(std::int64_t{1}, Family::other), "1");
  EXPECT_EQ(shown(Json{"[1,2]"}, Family::other), "[1,2]");
  EXPECT_EQ(shown(Bytes{"x"}, Family::other), "refused");
}

TEST(CellText, NullNeedsANullableColumnEvenWhenItHasADefault) {
  Column strict = column(Family::int64);
  strict.nullable = false;
  strict.has_default = true;
  EXPECT_EQ(shown(Null{}, Family::int64), "null");
  EXPECT_EQ(shown(Null{}, strict), "refused");
}

TEST(CellText, ReasonsDoNotHoldTheValue) {
  for (int family = 0; family <= static_cast<int>(Family::other); ++family) {
    CellBuffer buffer;
    Column target = column(static_cast<Family>(family));
    target.length_max = 1;
    const CellText cell = cell_text(Text{"secret-4711"}, target, buffer);
    if (cell.form != CellForm::refused) continue;
    EXPECT_EQ(std::string_view(cell.reason).find("4711"), std::string_view::npos);
  }
}

}  // namespace
}  // namespace sluice::sql
