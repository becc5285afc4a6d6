// `sluice check`: connects to everything, changes nothing, says which guarantee the job gets and what stands in its
// way.
#include <iostream>
#include <string>
#include <vector>

#include "app/commands.h"
#include "app/exit_code.h"
#include "app/wiring.h"
#include "core/format/job_reader.h"
#include "core/model/error.h"

namespace sluice::app {

namespace {

class Report {
 public:
  void good(const std::string& text) { std::cout << "  ok       " << text << '\n'; }
  void note(const std::string& text) { std::cout << "  note     " << text << '\n'; }
  void bad(const std::string& text) {
    std::cout << "  PROBLEM  " << text << '\n';
    ++problems_;
  }
  int problems() const { return problems_; }

  // Runs a look at one thing; what it throws is a problem, and the other looks go on.
  template <class Look>
  void look(Look look) {
    try {
      look();
    } catch (const Error& error) {
      bad(error.what());
    }
  }

 private:
  int problems_ = 0;
};

void check_source(const format::Job& job, const Wiring& wiring, Report& report) {
  report.look([&] {
    const auto ends = wiring.source->end_positions();
    report.good("source: " + std::to_string(ends.size()) + " splits");
    if (job.parallelism > ends.size()) {
      report.note("parallelism " + std::to_string(job.parallelism) + " is more than the " +
                  std::to_string(ends.size()) + " splits of the source: the tasks beyond have nothing to do");
    }
  });
}

void show_mapping(const std::string& topic, const sql::Binding& binding, Report& report) {
  report.good("topic " + topic + " -> table " + binding.plan.table);
  for (std::size_t i = 0; i < binding.plan.columns.size(); ++i) {
    const auto& column = binding.plan.columns[i];
    std::cout << "             " << to_string(binding.shape.cells[i]) << " -> " << column.name << " "
              << column.type_name << (column.nullable ? "" : " not null") << '\n';
  }
}

void check_tables(const format::Job& job, const Wiring& wiring, Report& report) {
  const auto& topics = job.source.type == format::SourceType::file ? job.source.file.paths : job.source.kafka.topics;
  for (const auto& topic : topics) {
    report.look([&] {
      if (const auto binding = wiring.sink->existing_binding(topic)) {
        show_mapping(topic, *binding, report);
      } else if (job.sinks.front().auto_create) {
        report.note("table " + wiring.sink->table_for(topic) + " does not exist yet and will be created (auto.create)");
      } else {
        report.bad("table " + wiring.sink->table_for(topic) + " does not exist in " + wiring.sink->database().name() +
                   ". Create it, or set \"auto.create\": true");
      }
    });
  }
}

}  // namespace

int check_command(const JobArguments& arguments, const Log& log) {
  const format::Job job = format::read_job(arguments.file, arguments.overrides);
  std::cout << "job " << job.name << '\n';
  Report report;
  report.look([&] {
    const Wiring wiring = wire(job, nullptr, log);
    check_source(job, wiring, report);
    report.look([&] {
      const auto missing = wiring.sink->migrate(false);
      report.good("database: " + wiring.sink->database().name());
      if (!missing.empty()) report.note("recovery tables are missing; `sluice run` or `sluice migrate` makes them");
    });
    if (report.problems() == 0) check_tables(job, wiring, report);
  });
  if (report.problems() > 0) {
    std::cout << "no guarantee: " << report.problems() << (report.problems() == 1 ? " problem" : " problems")
              << " above\n";
    return check_found_a_problem;
  }
  std::cout << "guarantee: exactly-once. Rows and positions move in one transaction of "
            << "the target (commit.protocol ledger), fenced by generation.\n";
  return done;
}

}  // namespace sluice::app
