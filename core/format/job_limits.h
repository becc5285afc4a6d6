// What the job file can say and this version cannot do.
#pragma once

#include "core/format/job_section.h"

namespace sluice::format {

// Adds a problem for each value of the job that is not there yet, so that nothing is ignored in silence.
void refuse_what_is_not_there_yet(Reading& reading);

}  // namespace sluice::format
