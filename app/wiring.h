// From a job file to the parts that do the work: the one place that knows concrete sources and sinks.
#pragma once

#include <memory>
#include <string>

#include "app/slot.h"
#include "core/api/dead_letter.h"
#include "core/api/decoder.h"
#include "core/api/log.h"
#include "core/api/source.h"
#include "core/format/job.h"
#include "core/runtime/job.h"
#include "sinks/sql/sql_sink.h"

namespace sluice::app {

struct Wiring {
  std::unique_ptr<Source> source;
  std::unique_ptr<Format> format;
  std::unique_ptr<sql::SqlSink> sink;
};

// Throws fatal when the job has not run on this database yet.
void require_recovery_tables(sql::SqlSink& sink);

// The topic of dead letters; nullptr: the job has none. Kept apart because only `run` needs it.
std::unique_ptr<LetterOutbox> wire_outbox(const format::Job& job, const Log& log);

// Connects to nothing. `slot` names this process within its group; nullptr for commands that do not join it.
Wiring wire(const format::Job& job, const Slot* slot, const Log& log);

JobSettings job_settings(const format::Job& job, bool bounded, bool migrate);

}  // namespace sluice::app
