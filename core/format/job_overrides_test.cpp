#include "core/format/job_overrides.h"

#include <gtest/gtest.h>

#include "core/format/job_test_file.h"

namespace sluice::format {

namespace {

class JobOverrides : public JobFileTest {};

TEST_F(JobOverrides, ReplaceAndAddValues) {
  const auto job =
      read(job_text(R"(, "parallelism": 4)"),
           {"parallelism=2", "checkpoint.interval=7s", "checkpoint.min.pause=0", "checkpoint.max.rows=10",
            "checkpoint.max.bytes=1MiB", "sink.connection.url=postgresql://u:a=b@h/d", "sink.auto.create=false",
            "sink.pk.mode=record_value", "sink.pk.fields=[\"id\", \"day\"]", "source.topics=other",
            "restart.max.failures=4", "restart.max=1min", "source.properties.linger.ms=5"});
  EXPECT_EQ(job.parallelism, 2U);
  EXPECT_EQ(job.checkpoint.interval, std::chrono::milliseconds{7000});
  EXPECT_EQ(job.checkpoint.min_pause, std::chrono::milliseconds{0});
  EXPECT_EQ(job.checkpoint.rows_max, 10U);
  EXPECT_EQ(job.checkpoint.bytes_max, 1U << 20U);
  EXPECT_EQ(job.sinks[0].connection_url, "postgresql://u:a=b@h/d");
  EXPECT_FALSE(job.sinks[0].auto_create);
  EXPECT_EQ(job.sinks[0].pk_fields, (std::vector<std::string>{"id", "day"}));
  EXPECT_EQ(job.source.kafka.topics, std::vector<std::string>{"other"});
  EXPECT_EQ(job.restart.failures_max, 4U);
  EXPECT_EQ(job.restart.max, std::chrono::milliseconds{60'000});
  EXPECT_EQ(job.source.kafka.properties, (std::map<std::string, std::string>{{"linger.ms", "5"}}));
}

TEST_F(JobOverrides, TheLastOneWins) {
  EXPECT_EQ(read(job_text(), {"parallelism=2", "parallelism=3"}).parallelism, 3U);
}

TEST_F(JobOverrides, AWholeSectionCanBeSet) {
  const auto job = read(job_text(R"(, "checkpoint": {"max.rows": 5})"), {R"(checkpoint={"interval": "3s"})"});
  EXPECT_EQ(job.checkpoint.interval, std::chrono::milliseconds{3000});
  EXPECT_EQ(job.checkpoint.rows_max, 1'000'000U);
}

TEST_F(JobOverrides, ANumberIsAStringWhereOneIsWanted) {
  const auto job = read(job_text(), {"name=2024", "source.group.id=true", "sink.table.name.format=null"});
  EXPECT_EQ(job.name, "2024");
  EXPECT_EQ(job.source.kafka.group_id, "true");
  EXPECT_EQ(job.sinks[0].table_name_format, "null");
}

TEST_F(JobOverrides, PutVariablesIn) {
  setenv("SLUICE_TEST_ROWS", "12", 1);
  EXPECT_EQ(read(job_text(), {"checkpoint.max.rows=${env:SLUICE_TEST_ROWS}"}).checkpoint.rows_max, 12U);
}

TEST_F(JobOverrides, MendABadFile) {
  EXPECT_NE(problems(job_text(R"(, "parallelism": "many")")), "");
  EXPECT_EQ(problems(job_text(R"(, "parallelism": "many")"), {"parallelism=2"}), "");
}

TEST_F(JobOverrides, SayWhereTheProblemIs) {
  EXPECT_EQ(problems(job_text(), {"checkpoint.intervall=5s"}),
            "--set checkpoint.intervall: unknown key \"checkpoint.intervall\"; did you mean \"checkpoint.interval\"?");
  EXPECT_EQ(
      problems(job_text(), {"checkpoint.interval=5"}),
      "--set checkpoint.interval: \"checkpoint.interval\" has no unit; write ms, s, min, h or d behind the number, "
      "as in \"5s\"");
  EXPECT_EQ(problems(job_text(), {"source.properties.=5"}).substr(0, 45),
            "--set source.properties.: unknown key \"source");
  EXPECT_EQ(problems(job_text(), {R"(checkpoint={"interval": "1s", "interval": "2s"})"}),
            "--set checkpoint: the key \"interval\" stands twice, first in line 1; remove one of them");
  EXPECT_EQ(problems(job_text(R"(, "checkpoint": 3)"), {"checkpoint.interval=5s"}),
            "job.json:1:" + std::to_string(job_text().size() + 16) +
                ": \"checkpoint\" must be an object, but is a number; change it");
}

TEST_F(JobOverrides, NeverShowAPastedUrl) {
  for (const auto* text :
       {"postgresql://app:s3cret@h/d?sslmode=x", "s3cret", "=s3cret", "sink.connection.url=mysql://a:s3cret@h/d"}) {
    const auto found = problems(job_text(), {text});
    EXPECT_EQ(found.substr(0, 5), "--set") << found;
    EXPECT_EQ(found.find("s3cret"), std::string::npos) << found;
  }
}

}  // namespace

}  // namespace sluice::format
