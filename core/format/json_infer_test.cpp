#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "core/format/json_format.h"

namespace sluice {
namespace {

using Inferred = std::vector<std::pair<std::string, Kind>>;

Inferred infer(const std::vector<std::string>& texts) {
  std::vector<Record> records;
  for (const auto& text : texts) {
    Record record;
    record.value = text;
    records.push_back(record);
  }
  records.emplace_back();  // a tombstone says nothing
  Inferred inferred;
  for (const auto& field : JsonFormat().infer(records)) inferred.emplace_back(field.name, field.kind);
  return inferred;
}

TEST(JsonInfer, FieldsInOrderOfFirstAppearance) {
  EXPECT_EQ(
      infer({R"({"z":1,"a":true})", R"({"m":"x","a":false,"z":2,"o":{"k":1}})", R"({"l":[1]})"}),
      (Inferred{{"z", Kind::integer}, {"a", Kind::boolean}, {"m", Kind::text}, {"o", Kind::json}, {"l", Kind::json}}));
}

TEST(JsonInfer, NarrowestKindThatHoldsAllNumbers) {
  EXPECT_EQ(infer({R"({"v":1})", R"({"v":9223372036854775807})"}), (Inferred{{"v", Kind::integer}}));
  EXPECT_EQ(infer({R"({"v":1})", R"({"v":0.5})"}), (Inferred{{"v", Kind::real}}));
  EXPECT_EQ(infer({R"({"v":1e3})"}), (Inferred{{"v", Kind::real}}));
  EXPECT_EQ(infer({R"({"v":9223372036854775808})", R"({"v":1})"}), (Inferred{{"v", Kind::decimal}}));
  EXPECT_EQ(infer({R"({"v":0.5})", R"({"v":9223372036854775808})"}), (Inferred{{"v", Kind::decimal}}));
}

TEST(JsonInfer, MixedKindsAreText) {
  EXPECT_EQ(infer({R"({"v":1})", R"({"v":"a"})"}), (Inferred{{"v", Kind::text}}));
  EXPECT_EQ(infer({R"({"v":true})", R"({"v":0})"}), (Inferred{{"v", Kind::text}}));
  EXPECT_EQ(infer({R"({"v":{}})", R"({"v":1})", R"({"v":2})"}), (Inferred{{"v", Kind::text}}));
}

TEST(JsonInfer, NullsSayNothing) {
  EXPECT_EQ(infer({R"({"n":null,"v":null})", R"({"v":2})", R"({"v":null})"}), (Inferred{{"v", Kind::integer}}));
  EXPECT_EQ(infer({R"({"n":null})", "{}"}), Inferred{});
  EXPECT_EQ(infer({}), Inferred{});
}

TEST(JsonInfer, RecordsThatDoNotDecodeArePassedOver) {
  EXPECT_EQ(infer({R"({"bad":1,"v":"x")", "[1]", "", R"({"bad":1} x)", R"({"v":1})"}),
            (Inferred{{"v", Kind::integer}}));
}

TEST(JsonInfer, OfDuplicatesTheLastCounts) {
  EXPECT_EQ(infer({R"({"v":"x","\u0076":1})"}), (Inferred{{"v", Kind::integer}}));
  EXPECT_EQ(infer({R"({"v":"x","v":null})"}), Inferred{});
}

}  // namespace
}  // namespace sluice
