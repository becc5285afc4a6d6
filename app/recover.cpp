// `sluice recover`: what a job has left prepared, and what is to become of each. The next start of the job settles all
// of it by itself; this is for those who want to look, or who will not start it again.
#include <cstdio>
#include <iostream>
#include <nlohmann/json.hpp>

#include "app/commands.h"
#include "app/exit_code.h"
#include "app/wiring.h"
#include "core/format/job_reader.h"
#include "core/model/error.h"
#include "core/protocol/decided.h"

namespace sluice::app {

namespace {

struct Found {
  std::string sink;
  std::string transaction;
  std::string prepared_at;  // empty: the server does not say
  bool decided = false;     // by a checkpoint
};

// In a checkpoint: it is to be committed. In none: nobody may ever commit it.
std::string proof(const Found& found) {
  return found.decided ? "a checkpoint holds it: the next start commits it"
                       : "no checkpoint holds it: the next start rolls it back";
}

// The transactions first: one that is published meanwhile is seen as decided then.
std::vector<Found> find_all(const Wiring& wiring) {
  std::vector<Found> all;
  for (const auto& wired : wiring.sinks) {
    const auto prepared = wired.sink->prepared();
    const auto decided = decided_in(*wiring.store, wired.name);
    for (const auto& one : prepared) {
      const auto& [name, prepared_at] = one.transaction;
      all.push_back({wired.name, name, prepared_at, decided.contains(name)});
    }
  }
  return all;
}

int list(const Wiring& wiring, bool json) {
  const auto all = find_all(wiring);
  if (json) {
    nlohmann::ordered_json out = nlohmann::ordered_json::array();
    for (const Found& found : all) {
      out.push_back({{"sink", found.sink},
                     {"transaction", found.transaction},
                     {"prepared_at", found.prepared_at},
                     {"decided", found.decided}});
    }
    std::cout << out.dump(2) << '\n';
    return done;
  }
  if (all.empty()) std::puts("no prepared transactions of this job");
  for (const Found& found : all) {
    std::printf("%s  sink %s%s%s\n    %s\n", found.transaction.c_str(), found.sink.c_str(),
                found.prepared_at.empty() ? "" : "  prepared at ", found.prepared_at.c_str(), proof(found).c_str());
  }
  return done;
}

int finish(const Wiring& wiring, const std::string& transaction, bool commit) {
  // A process that runs could be about to decide it: from now on it cannot.
  if (!commit) wiring.store->raise();
  for (const Found& found : find_all(wiring)) {
    if (found.transaction != transaction) continue;
    if (found.decided != commit) {
      throw Error(Fault::fatal, transaction + " stays as it is: " + proof(found) + ", and " +
                                    (commit ? "committing it by hand would write records twice"
                                            : "rolling it back by hand would take away what other sinks may show"));
    }
    bool finished = false;
    for (const auto& wired : wiring.sinks) {
      if (wired.name == found.sink) finished = wired.sink->finish_prepared(transaction, commit);
    }
    if (!finished) {
      throw Error(Fault::fatal, transaction +
                                    " is still held by the session that prepared it, or somebody else has "
                                    "ended it just now: look again, and end that session first");
    }
    std::printf("%s %s\n", transaction.c_str(), commit ? "committed" : "rolled back");
    return done;
  }
  for (const auto& wired : wiring.sinks) {
    if (!wired.sink->was_committed(transaction)) continue;
    std::printf("%s was committed before\n", transaction.c_str());
    return commit ? done : failed;
  }
  std::printf("no transaction %s of this job is prepared\n", transaction.c_str());
  return failed;
}

}  // namespace

int recover_command(const JobArguments& arguments, const RecoverArguments& what, const Log& log) {
  const format::Job job = format::read_job(arguments.file, arguments.overrides);
  const Wiring wiring = wire(job, nullptr, log);
  if (!wiring.store) {
    std::printf("this job prepares no transactions: its commit.protocol is %s\n",
                std::string(format::to_string(job.sinks.front().commit_protocol)).c_str());
    return done;
  }
  require_recovery_tables(wiring);
  if (!what.commit.empty()) return finish(wiring, what.commit, true);
  if (!what.rollback.empty()) return finish(wiring, what.rollback, false);
  return list(wiring, what.json);
}

}  // namespace sluice::app
