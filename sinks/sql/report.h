// Findings of `check` as they are collected.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/api/finding.h"
#include "sinks/sql/session.h"

namespace sluice::sql {

class Report {
 public:
  void add(Severity severity, std::string text, std::string next_step = {}) {
    findings_.push_back({severity, std::move(text), std::move(next_step)});
  }
  // Adds it for each row; "{}" in the text stands for the row's first cell.
  void add_each(const std::vector<Row>& rows, Severity severity, const std::string& text,
                const std::string& next_step = {}) {
    for (const auto& row : rows) {
      std::string filled = text;
      if (const auto at = filled.find("{}"); at != std::string::npos) filled.replace(at, 2, row[0].value_or(""));
      add(severity, filled, next_step);
    }
  }
  Findings take() { return std::move(findings_); }

 private:
  Findings findings_;
};

}  // namespace sluice::sql
