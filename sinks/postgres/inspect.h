#pragma once

#include "sinks/sql/database.h"

namespace sluice::postgres {

// What a person should know of the server, and of the table where there is one, before a job writes there. Changes
// nothing.
Findings inspect_server(sql::Session& session, const sql::InspectionSubject& subject);
Findings inspect_table(sql::Session& session, const sql::InspectionSubject& subject);

}  // namespace sluice::postgres
