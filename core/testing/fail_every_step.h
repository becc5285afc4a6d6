// Runs a small job whose n-th call to the database fails, for n = 1, 2, ... until a run passes without the fault, and
// looks after each: every record is in the table exactly once, the ledger is at the end.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "core/testing/sink_conformance.h"
#include "core/testing/sql_conformance.h"

namespace sluice::testing {

struct SqlMaker {
  std::function<std::unique_ptr<SqlUnderTest>()> make;  // called once per test
  SinkCapabilities capabilities = {};
  std::string missing = {};  // as in SinkMaker
};

// Registers the tests as FailEveryStep/<name>.*. Call it as add_sink_conformance().
bool add_fail_every_step(const std::string& name, const SqlMaker& maker);

}  // namespace sluice::testing
