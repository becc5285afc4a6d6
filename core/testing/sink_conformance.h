// The tests that every sink must pass. They hold a sink to the promises of core/api/sink.h and say nothing about how it
// keeps them.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "core/testing/sink_under_test.h"

namespace sluice::testing {

struct SinkCapabilities {
  bool several_writers = true;  // may two writers have epochs open at once?
  bool two_phase = false;       // can its server prepare transactions?
  bool ends_sessions = true;    // does take_over() end the session of an owner that did not release?
};

struct SinkMaker {
  std::function<std::unique_ptr<SinkUnderTest>()> make;  // called once per test
  SinkCapabilities capabilities = {};                    // tests of what a sink has not are left out
  // Not empty: there is no server to test with, and why. The tests are skipped, or fail with SLUICE_REQUIRE_SERVICES=1.
  std::string missing = {};
};

// Registers the suite as SinkConformance/<name>.*. Call it from a static initialiser of the test binary:
//   const bool registered = sluice::testing::add_sink_conformance("Postgres", maker);
// Tests that register themselves would be dropped by the linker along with the library that holds them.
bool add_sink_conformance(const std::string& name, const SinkMaker& maker);

}  // namespace sluice::testing
