// What the keys of one section must say together.
#pragma once

#include "core/format/job.h"
#include "core/format/job_section.h"

namespace sluice::format {

// Each adds its problems to the section that the configuration was read from.
void check(const SourceConfig& source, SectionReader& section);
void check(const SinkConfig& sink, SectionReader& section);
void check(const CheckpointConfig& checkpoint, SectionReader& section);
void check(const RestartConfig& restart, SectionReader& section);

// [a-z0-9_-]{1,64}: it is part of keys in the recovery tables and of ids of transactions.
bool is_name(const std::string& text);

}  // namespace sluice::format
