// What `sluice check` has found, as a page for people or as JSON for machines.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "core/api/finding.h"
#include "core/model/error.h"
#include "sinks/sql/binding.h"

namespace sluice::app {

struct CheckedTable {
  std::string topic;
  std::string table;
  sql::Binding binding;
};

class CheckReport {
 public:
  explicit CheckReport(std::string job) : job_(std::move(job)) {}

  // Findings that follow belong to this part: "source", "sink", "table orders".
  void part(const std::string& name) { parts_.push_back({name, {}}); }
  void add(Severity severity, const std::string& text, const std::string& next_step = {});
  void add(const Findings& findings);
  void add(const CheckedTable& table) { tables_.push_back(table); }
  // Of this run with these settings.
  void guarantee(const std::string& name, const std::string& reason);

  // Runs a look at one thing; what it throws is a problem, and the other looks go on.
  template <class Look>
  void look(Look look) {
    try {
      look();
    } catch (const Error& error) {
      add(Severity::problem, error.what());
    }
  }

  std::size_t count(Severity severity) const;
  void print_page() const;
  void print_json() const;

 private:
  struct Part {
    std::string name;
    Findings findings;
  };

  std::string job_;
  std::string guarantee_;
  std::string reason_;
  std::vector<Part> parts_;
  std::vector<CheckedTable> tables_;
};

}  // namespace sluice::app
