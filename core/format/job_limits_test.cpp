#include "core/format/job_limits.h"

#include <gtest/gtest.h>

#include "core/format/job_test_file.h"

namespace sluice::format {

namespace {

class JobLimits : public JobFileTest {};

TEST_F(JobLimits, WhatIsNotThereYetIsRefusedByNameAndPlace) {
  EXPECT_EQ(
      problems(job_text("", "", ",\n  \"pk.mode\": \"record_header\"")),
      "job.json:2:14: \"sink.pk.mode\": \"record_header\" is not available in this version, only none, kafka, "
      "record_key, record_value; use record_value with fields of the record, or kafka for topic, partition and offset");
}

TEST_F(JobLimits, EachOfThem) {
  struct Case {
    std::string text;
    std::string path;
  };
  std::vector<Case> cases;
  const auto top = [&](const std::string& text, const std::string& path) {
    cases.push_back({job_text(", " + text), path});
  };
  const auto source = [&](const std::string& text, const std::string& path) {
    cases.push_back({job_text("", ", " + text), path});
  };
  const auto sink = [&](const std::string& text, const std::string& path) {
    cases.push_back({job_text("", "", ", " + text), path});
  };
  top(R"("transforms": [{}])", "transforms");
  for (const auto* format : {"json-schema", "debezium-json", "avro", "csv", "string", "raw"}) {
    source(R"("value.format": ")" + std::string(format) + '"', "source.value.format");
  }
  for (const auto* format : {"json-schema", "avro", "raw"}) {
    source(R"("key.format": ")" + std::string(format) + '"', "source.key.format");
  }
  sink(R"("insert.mode": "update", "pk.mode": "record_value", "pk.fields": ["id"])", "sink.insert.mode");
  sink(R"("pk.mode": "record_header", "pk.fields": ["id"])", "sink.pk.mode");
  sink(R"("auto.evolve": true)", "sink.auto.evolve");
  const std::string start = R"({"name": "a", "source": {"type": "file", "path": "x"}, )";
  cases.push_back({start + R"("sink": {"type": "kafka"}})", "sink.type"});
  cases.push_back({start + R"("sink": {"type": "file"}})", "sink.type"});
  cases.push_back({start + R"("sinks": [{"type": "sqlite", "connection.url": "sqlite:a", "auto.evolve": true}]})",
                   "sinks[0].auto.evolve"});
  for (const auto& one : cases) {
    const auto found = problems(one.text);
    EXPECT_NE(found.find('"' + one.path + "\": "), std::string::npos) << one.path << " in: " << found;
    EXPECT_NE(found.find("not available in this version"), std::string::npos) << found;
    EXPECT_EQ(found.find('\n'), std::string::npos) << "more than the one problem: " << found;
  }
}

TEST_F(JobLimits, DeadLettersDoNotComeBack) {
  const auto found = problems(job_text(R"(, "errors": {"tolerance": "all", "deadletter": "topic:orders"})"));
  EXPECT_NE(found.find("reads itself"), std::string::npos) << found;
}

TEST_F(JobLimits, ShowsAVariableNotItsValue) {
  setenv("SLUICE_TEST_PK_MODE", "record_header", 1);
  const auto found = problems(job_text("", "", R"(, "pk.mode": "${env:SLUICE_TEST_PK_MODE}")"));
  EXPECT_NE(found.find("\"${env:SLUICE_TEST_PK_MODE}\" is not available"), std::string::npos) << found;
}

}  // namespace

}  // namespace sluice::format
