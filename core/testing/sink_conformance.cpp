#include "core/testing/sink_conformance.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <utility>

#include "core/testing/conformance_case.h"

namespace sluice::testing {

namespace {

class ConformanceBody : public ::testing::Test {
 public:
  ConformanceBody(const ConformanceTest& test, SinkMaker maker) : test_(test), maker_(std::move(maker)) {}

  void TestBody() override {
    if (!maker_.missing.empty()) {
      if (std::getenv("SLUICE_REQUIRE_SERVICES") != nullptr) FAIL() << maker_.missing;
      GTEST_SKIP() << maker_.missing;
    }
    const auto sut = maker_.make();
    test_.run(*sut);
  }

 private:
  const ConformanceTest& test_;
  SinkMaker maker_;
};

bool has(const SinkCapabilities& capabilities, Needs needs) {
  if (needs == Needs::several_writers) return capabilities.several_writers;
  if (needs == Needs::ended_sessions) return capabilities.ends_sessions;
  return true;
}

}  // namespace

bool add_sink_conformance(const std::string& name, const SinkMaker& maker) {
  for (const auto& tests : {claim_tests(), epoch_tests(), fencing_tests(), isolating_tests(), value_tests()}) {
    for (const ConformanceTest& test : tests) {
      if (!has(maker.capabilities, test.needs)) continue;
      ::testing::RegisterTest(("SinkConformance/" + name).c_str(), test.name, nullptr, nullptr, __FILE__, __LINE__,
                              [&test, maker]() -> ::testing::Test* { return new ConformanceBody(test, maker); });
    }
  }
  return true;
}

}  // namespace sluice::testing
