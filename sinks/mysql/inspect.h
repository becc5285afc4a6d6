// What `check` finds out about a server and a table. Internal to this folder.
#pragma once

#include "core/api/finding.h"
#include "sinks/mysql/session.h"
#include "sinks/sql/database.h"

namespace sluice::mysql {

Findings inspect_server(MysqlSession& session, const sql::InspectionSubject& subject);
Findings inspect_table(MysqlSession& session, const sql::InspectionSubject& subject);

}  // namespace sluice::mysql
