// From a job file to the parts that do the work: the one place that knows concrete sources and sinks.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "app/slot.h"
#include "core/api/checkpoint.h"
#include "core/api/dead_letter.h"
#include "core/api/decoder.h"
#include "core/api/log.h"
#include "core/api/source.h"
#include "core/format/job.h"
#include "core/runtime/job.h"
#include "core/runtime/sink_group.h"
#include "sinks/sql/sql_sink.h"
#include "stores/wal/wal_sink.h"

namespace sluice::app {

struct WiredSink {
  std::string name;
  std::vector<std::string> topics;  // that go there; empty: all
  bool auto_create = false;
  std::unique_ptr<sql::SqlSink> sink;
  std::unique_ptr<WalSink> wal;  // in front of it; nullptr: nothing is

  Sink& target() const;
  bool takes(const std::string& topic) const;
};

struct Wiring {
  std::unique_ptr<Source> source;
  std::unique_ptr<Format> format;
  std::vector<WiredSink> sinks;            // never empty
  std::unique_ptr<CheckpointStore> store;  // where commit.protocol needs one
  std::unique_ptr<SinkGroup> group;        // several sinks, or one with a store

  // What the job writes to.
  Sink& target() const;
};

// Throws fatal when the job has not run on these databases yet.
void require_recovery_tables(const Wiring& wiring);

// The topic of dead letters; nullptr: the job has none. Kept apart because only `run` needs it.
std::unique_ptr<LetterOutbox> wire_outbox(const format::Job& job, const Log& log);

// Connects to nothing. `slot` names this process within its group; nullptr for commands that do not join it.
Wiring wire(const format::Job& job, const Slot* slot, const Log& log);

JobSettings job_settings(const format::Job& job, bool bounded, bool migrate);

}  // namespace sluice::app
