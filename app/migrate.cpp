// `sluice migrate`: the recovery tables, made or shown.
#include <iostream>

#include "app/commands.h"
#include "app/exit_code.h"
#include "app/wiring.h"
#include "core/format/job_reader.h"
#include "sinks/sql/migrator.h"

namespace sluice::app {

namespace {

void migrate(sql::SqlSink& sink, bool print) {
  const auto names = sink.migrate(!print);
  sql::Database& database = sink.database();
  if (names.empty()) {
    std::cout << (print ? "-- " : "") << "nothing to do: the recovery tables in " << database.name()
              << " are up to date\n";
  }
  for (const auto& name : names) {
    if (!print) {
      std::cout << "applied " << name << " to " << database.name() << '\n';
      continue;
    }
    for (const auto& migration : database.migrations()) {
      if (sql::file_name(migration) == name) std::cout << "-- " << name << '\n' << migration.sql << '\n';
    }
  }
}

}  // namespace

int migrate_command(const JobArguments& arguments, bool print, const Log& log) {
  const format::Job job = format::read_job(arguments.file, arguments.overrides);
  const Wiring wiring = wire(job, nullptr, log);
  for (const auto& wired : wiring.sinks) migrate(*wired.sink, print);
  return done;
}

}  // namespace sluice::app
