// What a table of checkpoints promises, on every database that can hold one.
#pragma once

#include <string>

#include "core/testing/fail_every_step.h"

namespace sluice::testing {

// Registers the tests as CheckpointTable/<name>.*. Call it as add_sink_conformance().
bool add_checkpoint_table_conformance(const std::string& name, const SqlMaker& maker);

}  // namespace sluice::testing
