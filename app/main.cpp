#include <CLI/CLI.hpp>

#include <csignal>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <functional>
#include <iostream>

#include "app/commands.h"
#include "app/exit_code.h"
#include "app/logging.h"
#include "app/version.h"
#include "core/format/job_reader.h"
#include "core/model/error.h"
#include "core/model/fault_point.h"

namespace {

using namespace sluice;
using namespace sluice::app;

struct Arguments {
  JobArguments job;
  std::string log_format = "text";
  std::string log_level = "info";
  RunArguments run;
  std::string savepoint;  // a directory
  bool print = false;
  bool json = false;
  DeadLettersArguments dead_letters;
  OffsetsArguments offsets;
  RecoverArguments recover;
  bool list = false;  // of recover: what it does anyway
  DemoArguments demo;
};

CLI::App* add_job_command(CLI::App& app, Arguments& arguments, const std::string& name, const std::string& what) {
  CLI::App* const command = app.add_subcommand(name, what);
  command->add_option("JOB", arguments.job.file, "the job file")->required();
  command->add_option("--set", arguments.job.overrides, "override a key of the job file: path=value")
      ->type_name("PATH=VALUE");
  return command;
}

void add_run(CLI::App& app, Arguments& arguments, std::function<int(const Log&)>& command) {
  auto* const run = add_job_command(app, arguments, "run", "run the job until SIGTERM or SIGINT");
  run->add_flag("--bounded", arguments.run.bounded, "stop after the end offsets seen at the start");
  run->add_flag("--no-migrate", arguments.run.no_migrate, "do not create or upgrade the recovery tables");
  run->add_option("--from", arguments.run.from,
                  "begin where this savepoint says, in a database that knows no other place")
      ->type_name("DIR");
  run->callback([&] { command = [&](const Log& log) { return run_command(arguments.job, arguments.run, log); }; });
  auto* const savepoint =
      add_job_command(app, arguments, "savepoint", "write down where the job stands, for run --from");
  savepoint->add_option("DIR", arguments.savepoint, "a directory that holds none yet")->required();
  savepoint->callback(
      [&] { command = [&](const Log& log) { return savepoint_command(arguments.job, arguments.savepoint, log); }; });
}

void add_recover(CLI::App& app, Arguments& arguments, std::function<int(const Log&)>& command) {
  auto* const recover =
      add_job_command(app, arguments, "recover", "prepared transactions of the job, each with its proof");
  recover->add_flag("--list", arguments.list, "show them (the default)");
  auto* const commit = recover->add_option("--commit", arguments.recover.commit, "commit this one by hand");
  recover->add_option("--rollback", arguments.recover.rollback, "roll this one back by hand")->excludes(commit);
  recover->add_flag("--json", arguments.recover.json, "for machines");
  recover->callback(
      [&] { command = [&](const Log& log) { return recover_command(arguments.job, arguments.recover, log); }; });
}

// Runs what the command line asks for.
int dispatch(int argc, char** argv) {
  Arguments arguments;
  std::function<int(const Log&)> command;
  CLI::App app{"Exactly-once delivery from Kafka into relational databases.", "sluice"};
  app.set_version_flag("--version", version());
  app.require_subcommand(1);
  app.fallthrough();
  app.add_option("--log-format", arguments.log_format, "text or json")->check(CLI::IsMember({"text", "json"}));
  app.add_option("--log-level", arguments.log_level, "debug, info, warning or error")
      ->check(CLI::IsMember({"debug", "info", "warning", "error"}));

  add_run(app, arguments, command);
  auto* const check = add_job_command(app, arguments, "check",
                                      "connect to everything and say which guarantee the job gets; changes nothing");
  check->add_flag("--json", arguments.json, "for machines");
  check->callback([&] { command = [&](const Log& log) { return check_command(arguments.job, arguments.json, log); }; });
  auto* const migrate = add_job_command(app, arguments, "migrate", "create or upgrade the recovery tables");
  migrate->add_flag("--print", arguments.print, "print the statements that are missing instead");
  migrate->callback(
      [&] { command = [&](const Log& log) { return migrate_command(arguments.job, arguments.print, log); }; });
  auto* const status = add_job_command(app, arguments, "status", "positions, lag, epochs and owners");
  status->add_flag("--json", arguments.json, "for machines");
  status->callback(
      [&] { command = [&](const Log& log) { return status_command(arguments.job, arguments.json, log); }; });
  auto* const letters = add_job_command(app, arguments, "dead-letters", "the records that could not be written");
  letters->add_flag("--list", arguments.dead_letters.list, "show where each came from and why it failed (the default)");
  auto* const retry = letters->add_flag("--retry", arguments.dead_letters.retry, "write those that can be written now");
  letters->add_flag("--discard", arguments.dead_letters.discard, "throw all of them away")->excludes(retry);
  letters->add_flag("--json", arguments.dead_letters.json, "one JSON object a line");
  letters->add_option("--limit", arguments.dead_letters.limit, "how many are listed");
  letters->callback([&] {
    command = [&](const Log& log) { return dead_letters_command(arguments.job, arguments.dead_letters, log); };
  });
  auto* const offsets = add_job_command(app, arguments, "offsets", "the ledger's positions, shown or moved");
  offsets->footer("--set TOPIC:PARTITION=OFFSET, which may be given several times, moves the position of one split.");
  offsets->add_option("--reset", arguments.offsets.reset, "move every split")
      ->check(CLI::IsMember({"earliest", "latest"}));
  offsets->add_option("--sink", arguments.offsets.sink, "which of several sinks to move, by its name");
  offsets->callback(
      [&] { command = [&](const Log& log) { return offsets_command(arguments.job, arguments.offsets, log); }; });
  add_recover(app, arguments, command);
  auto* const demo =
      app.add_subcommand("demo", "the main job without any server: kills its worker again and again, then audits");
  demo->add_option("--records", arguments.demo.records, "how many records")->check(CLI::Range(1000, 150'000));
  demo->add_option("--kills", arguments.demo.kills, "how often the worker is killed -9")->check(CLI::Range(0, 100));
  demo->add_option("--directory", arguments.demo.directory, "where to leave job file and database");
  demo->add_option("--seed", arguments.demo.seed, "of the times of the kills; 0: the clock's");
  demo->callback([&] {
    command = [&](const Log&) { return demo_command(arguments.demo, std::filesystem::read_symlink("/proc/self/exe")); };
  });
  auto* const points =
      app.add_subcommand("fault-points", "names for SLUICE_FAULT, which the crash tests arm")->group("");
  points->callback([&] {
    command = [](const Log&) {
      for (const auto name : fault_point_names()) std::cout << name << '\n';
      return static_cast<int>(done);
    };
  });
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? done : usage;
  }
  return command(make_log(arguments.log_format, arguments.log_level));
}

}  // namespace

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);  // a broken connection is an error code, not the end
  try {
    return dispatch(argc, argv);
  } catch (const format::JobError& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return usage;
  } catch (const Error& error) {
    std::fprintf(stderr, "sluice: %s\n", error.what());
    return exit_code(error.fault());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "sluice: internal: %s\n", error.what());
    return failed;
  }
}
