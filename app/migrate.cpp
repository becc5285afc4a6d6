// `sluice migrate`: the recovery tables, made or shown.
#include <iostream>

#include "app/commands.h"
#include "app/exit_code.h"
#include "app/wiring.h"
#include "core/format/job_reader.h"

namespace sluice::app {

namespace {

void migrate(sql::SqlSink& sink, bool print) {
  const std::string nothing = "nothing to do: the recovery tables in " + sink.database().name() + " are up to date\n";
  if (print) {
    const std::string script = sink.migration_script();
    std::cout << (script.empty() ? "-- " + nothing : script);
    return;
  }
  const auto names = sink.migrate();
  if (names.empty()) std::cout << nothing;
  for (const auto& name : names) std::cout << "applied " << name << " to " << sink.database().name() << '\n';
}

}  // namespace

int migrate_command(const JobArguments& arguments, bool print, const Log& log) {
  const format::Job job = format::read_job(arguments.file, arguments.overrides);
  const Wiring wiring = wire(job, nullptr, log);
  for (const auto& wired : wiring.sinks) migrate(*wired.sink, print);
  return done;
}

}  // namespace sluice::app
