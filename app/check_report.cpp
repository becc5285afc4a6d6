#include "app/check_report.h"

#include <algorithm>
#include <cstdio>
#include <iostream>
#include <nlohmann/json.hpp>

#include "sinks/sql/column_checks.h"

namespace sluice::app {

namespace {

std::string mode_of(const sql::LoadPlan& plan) {
  return plan.mode == sql::InsertMode::upsert ? "upsert" : "insert";
}

bool is_key(const sql::LoadPlan& plan, std::size_t column) {
  return std::find(plan.key.begin(), plan.key.end(), column) != plan.key.end();
}

void print_table(const CheckedTable& table) {
  const sql::LoadPlan& plan = table.binding.plan;
  std::printf("\ntopic %s -> table %s (%s)\n", table.topic.c_str(), table.table.c_str(), mode_of(plan).c_str());
  std::size_t field = 5;
  std::size_t name = 6;
  std::size_t type = 4;
  for (std::size_t i = 0; i < plan.columns.size(); ++i) {
    field = std::max(field, to_string(table.binding.shape.cells[i]).size());
    name = std::max(name, plan.columns[i].name.size() + 2);
    type = std::max(type, plan.columns[i].type_name.size());
  }
  const auto line = [&](const std::string& a, const std::string& b, const std::string& c, const std::string& d) {
    std::printf("  %-*s  %-*s  %-*s  %s\n", static_cast<int>(field), a.c_str(), static_cast<int>(name), b.c_str(),
                static_cast<int>(type), c.c_str(), d.c_str());
  };
  line("field", "column", "type", "checked before it is sent");
  for (std::size_t i = 0; i < plan.columns.size(); ++i) {
    const sql::Column& column = plan.columns[i];
    line(to_string(table.binding.shape.cells[i]), column.name + (is_key(plan, i) ? " *" : ""), column.type_name,
         sql::checks_of(column));
  }
  if (!plan.key.empty()) std::puts("  * key");
}

nlohmann::ordered_json to_json(const CheckedTable& table) {
  nlohmann::ordered_json columns = nlohmann::json::array();
  const sql::LoadPlan& plan = table.binding.plan;
  for (std::size_t i = 0; i < plan.columns.size(); ++i) {
    columns.push_back({{"field", to_string(table.binding.shape.cells[i])},
                       {"column", plan.columns[i].name},
                       {"type", plan.columns[i].type_name},
                       {"key", is_key(plan, i)},
                       {"checked", sql::checks_of(plan.columns[i])}});
  }
  return {{"topic", table.topic}, {"table", table.table}, {"insert_mode", mode_of(plan)}, {"columns", columns}};
}

}  // namespace

void CheckReport::add(Severity severity, const std::string& text, const std::string& next_step) {
  parts_.back().findings.push_back({severity, text, next_step});
}

void CheckReport::add(const Findings& findings) {
  for (const Finding& finding : findings) parts_.back().findings.push_back(finding);
}

void CheckReport::guarantee(const std::string& name, const std::string& reason) {
  guarantee_ = name;
  reason_ = reason;
}

std::size_t CheckReport::count(Severity severity) const {
  std::size_t count = 0;
  for (const Part& part : parts_) {
    count +=
        static_cast<std::size_t>(std::count_if(part.findings.begin(), part.findings.end(),
                                               [&](const Finding& finding) { return finding.severity == severity; }));
  }
  return count;
}

void CheckReport::print_page() const {
  std::printf("job %s: %s\n  %s\n", job_.c_str(), guarantee_.c_str(), reason_.c_str());
  for (const Part& part : parts_) {
    if (part.findings.empty()) continue;
    std::printf("\n%s\n", part.name.c_str());
    for (const Finding& finding : part.findings) {
      const std::string severity(finding.severity == Severity::problem ? "PROBLEM" : to_string(finding.severity));
      std::printf("  %-8s %s\n", severity.c_str(), finding.text.c_str());
      if (!finding.next_step.empty()) std::printf("  %-8s -> %s\n", "", finding.next_step.c_str());
    }
  }
  for (const CheckedTable& table : tables_) print_table(table);
}

void CheckReport::print_json() const {
  nlohmann::ordered_json out{{"job", job_}, {"guarantee", guarantee_}, {"reason", reason_}};
  out["findings"] = nlohmann::json::array();
  for (const Part& part : parts_) {
    for (const Finding& finding : part.findings) {
      nlohmann::ordered_json one{
          {"severity", std::string(to_string(finding.severity))}, {"part", part.name}, {"text", finding.text}};
      if (!finding.next_step.empty()) one["next_step"] = finding.next_step;
      out["findings"].push_back(std::move(one));
    }
  }
  out["tables"] = nlohmann::json::array();
  for (const CheckedTable& table : tables_) out["tables"].push_back(to_json(table));
  std::cout << out.dump(2) << '\n';
}

}  // namespace sluice::app
