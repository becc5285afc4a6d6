#include "core/testing/sink_conformance.h"

#include "core/testing/conformance_case.h"

namespace sluice::testing {

namespace {

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
      register_test("SinkConformance/" + name, test.name, maker.missing, [&test, maker] {
        const auto sut = maker.make();
        test.run(*sut);
      });
    }
  }
  return true;
}

}  // namespace sluice::testing
