#include "core/format/job_reader.h"

#include <gtest/gtest.h>

#include "core/format/job_test_file.h"

namespace sluice::format {

namespace {

using std::chrono::milliseconds;

class JobReader : public JobFileTest {
 protected:
  void expect_problem(const std::string& text, const std::string& part) {
    const auto found = problems(text);
    EXPECT_NE(found.find(part), std::string::npos) << "looked for: " << part << "\nfound: " << found;
  }
};

TEST_F(JobReader, FillsInTheDefaults) {
  const auto job = read(job_text());
  EXPECT_EQ(job.name, "orders");
  EXPECT_EQ(job.guarantee, Guarantee::exactly_once);
  EXPECT_EQ(job.source.type, SourceType::kafka);
  EXPECT_EQ(job.source.kafka.bootstrap_servers, "localhost:9092");
  EXPECT_EQ(job.source.kafka.topics, std::vector<std::string>{"orders"});
  EXPECT_EQ(job.source.kafka.group_id, "sluice-orders");
  EXPECT_EQ(job.source.kafka.start_mode, StartMode::earliest_offset);
  EXPECT_EQ(job.source.kafka.discovery_interval, milliseconds{5000});
  EXPECT_EQ(job.source.value_format, ValueFormat::json);
  EXPECT_EQ(job.source.key_format, KeyFormat::none);
  ASSERT_EQ(job.sinks.size(), 1U);
  const auto& sink = job.sinks.front();
  EXPECT_EQ(sink.name, "postgres");
  EXPECT_EQ(sink.table_name_format, "${topic}");
  EXPECT_EQ(sink.insert_mode, InsertMode::insert);
  EXPECT_EQ(sink.pk_mode, PkMode::none);
  EXPECT_TRUE(sink.pk_fields.empty());
  EXPECT_TRUE(sink.auto_create);
  EXPECT_FALSE(sink.auto_evolve);
  EXPECT_FALSE(sink.delete_enabled);
  EXPECT_EQ(sink.commit_protocol, CommitProtocol::ledger);
  EXPECT_EQ(job.parallelism, 1U);
  EXPECT_EQ(job.checkpoint.interval, milliseconds{1000});
  EXPECT_EQ(job.checkpoint.timeout, milliseconds{600'000});
  EXPECT_EQ(job.checkpoint.min_pause, milliseconds{5});
  EXPECT_EQ(job.checkpoint.rows_max, 1'000'000U);
  EXPECT_EQ(job.checkpoint.bytes_max, 268'435'456U);
  EXPECT_EQ(job.checkpoint.tolerable_failures, 0U);
  EXPECT_EQ(job.checkpoint.directory, "state");
  EXPECT_EQ(job.restart.strategy, RestartStrategy::exponential_delay);
  EXPECT_EQ(job.restart.initial, milliseconds{500});
  EXPECT_EQ(job.restart.max, milliseconds{30'000});
  EXPECT_EQ(job.restart.attempts, std::nullopt);
  EXPECT_EQ(job.errors.tolerance, Tolerance::none);
  EXPECT_EQ(job.errors.deadletter.to, DeadLetterConfig::To::table);
}

TEST_F(JobReader, ReadsEveryKey) {
  setenv("SLUICE_TEST_PASSWORD", "s3cret", 1);
  write("threads", "4\n");
  const auto job = read(R"({
    // a comment
    "$schema": "../docs/job.schema.json",
    "name": "orders-eu_1", "delivery.guarantee": "exactly-once",
    "source": {"type": "kafka", "bootstrap.servers": "a:1,b:2", "topics": ["orders", "refunds"], "group.id": "mine",
      "scan.startup.mode": "specific-offsets", "scan.startup.specific-offsets": {"orders:0": 42, "refunds:17": 0},
      "partition.discovery.interval": "0", "value.format": "json", "key.format": "none",
      "properties": {"client.id": "x-${env:SLUICE_TEST_PASSWORD}", "fetch.min.bytes": 10, "debug.on": true}},
    "transforms": [],
    "sink": {"type": "postgres", "name": "main", "connection.url": "postgres://app:${env:SLUICE_TEST_PASSWORD}@h/d",
      "table.name.format": "raw_${topic}", "insert.mode": "upsert",
      "pk.mode": "record_value", "pk.fields": ["id", "day"],
      "delete.enabled": false, "auto.create": false, "auto.evolve": false,
      "columns": [{"name": "id", "type": "BIGINT", "from": "order.id"},
        {"name": "day", "from": "@headers.day"}, {"name": "a.b"}],
      "commit.protocol": "ledger"},
    "parallelism": "${file:threads}",
    "checkpoint": {"interval": "2s", "timeout": "5min", "min.pause": "0", "max.rows": 7, "max.bytes": 4096,
      "tolerable.failures": 0, "directory": "/var/lib/sluice"},
    "restart": {"strategy": "failure-rate", "initial": "1s", "max": "1min", "attempts": 3, "delay": "0",
      "max.failures": 9, "interval": "1h"},
    "errors": {"tolerance": "none", "deadletter": "none"}
  })");
  EXPECT_EQ(job.name, "orders-eu_1");
  const auto& kafka = job.source.kafka;
  EXPECT_EQ(kafka.topics, (std::vector<std::string>{"orders", "refunds"}));
  EXPECT_EQ(kafka.group_id, "mine");
  EXPECT_EQ(kafka.start_mode, StartMode::specific_offsets);
  EXPECT_EQ(kafka.start_offsets, (Positions{{{"orders", 0}, 42}, {{"refunds", 17}, 0}}));
  EXPECT_EQ(kafka.discovery_interval, milliseconds{0});
  EXPECT_EQ(kafka.properties, (std::map<std::string, std::string>{
                                  {"client.id", "x-s3cret"}, {"debug.on", "true"}, {"fetch.min.bytes", "10"}}));
  const auto& sink = job.sinks.at(0);
  EXPECT_EQ(sink.name, "main");
  EXPECT_EQ(sink.connection_url, "postgres://app:s3cret@h/d");
  EXPECT_EQ(sink.table_name_format, "raw_${topic}");
  EXPECT_EQ(sink.insert_mode, InsertMode::upsert);
  EXPECT_EQ(sink.pk_fields, (std::vector<std::string>{"id", "day"}));
  EXPECT_FALSE(sink.auto_create);
  ASSERT_EQ(sink.columns.size(), 3U);
  EXPECT_EQ(sink.columns[0].type, "BIGINT");
  EXPECT_EQ(to_string(sink.columns[0].from), "order.id");
  EXPECT_EQ(to_string(sink.columns[1].from), "@headers.day");
  EXPECT_EQ(sink.columns[2].from.path, std::vector<std::string>{"a.b"});  // one field whose name has a dot
  EXPECT_EQ(job.parallelism, 4U);
  EXPECT_EQ(job.checkpoint.interval, milliseconds{2000});
  EXPECT_EQ(job.checkpoint.timeout, milliseconds{300'000});
  EXPECT_EQ(job.checkpoint.min_pause, milliseconds{0});
  EXPECT_EQ(job.checkpoint.rows_max, 7U);
  EXPECT_EQ(job.checkpoint.bytes_max, 4096U);
  EXPECT_EQ(job.checkpoint.directory, "/var/lib/sluice");
  EXPECT_EQ(job.restart.strategy, RestartStrategy::failure_rate);
  EXPECT_EQ(job.restart.initial, milliseconds{1000});
  EXPECT_EQ(job.restart.max, milliseconds{60'000});
  EXPECT_EQ(job.restart.attempts, 3U);
  EXPECT_EQ(job.restart.delay, milliseconds{0});
  EXPECT_EQ(job.restart.failures_max, 9U);
  EXPECT_EQ(job.restart.interval, milliseconds{3'600'000});
  EXPECT_EQ(job.errors.deadletter.to, DeadLetterConfig::To::none);
}

TEST_F(JobReader, ReadsAFileSource) {
  const std::string sink = R"("sink": {"type": "sqlite", "connection.url": "sqlite:shop.db"})";
  auto job = read(R"({"name": "f", "source": {"type": "file", "path": "a.jsonl"}, )" + sink + "}");
  EXPECT_EQ(job.source.type, SourceType::file);
  EXPECT_EQ(job.source.file.paths, std::vector<std::string>{"a.jsonl"});
  job = read(R"({"name": "f", "source": {"type": "file", "path": ["a", "b"]}, )" + sink + "}");
  EXPECT_EQ(job.source.file.paths, (std::vector<std::string>{"a", "b"}));
  expect_problem(R"({"name": "f", "source": {"type": "file"}, )" + sink + "}", R"("source.path" is missing)");
  expect_problem(R"({"name": "f", "source": {"type": "file", "path": "a", "topics": ["x"]}, )" + sink + "}",
                 R"("source.topics" belongs to the type "kafka")");
  expect_problem(job_text("", R"(, "path": "a")"), R"("source.path" belongs to the type "file")");
}

TEST_F(JobReader, NamesTheNearestKeyAndThePlace) {
  EXPECT_EQ(problems("{\n  \"name\": \"x\",\n  \"source\": {\"type\": \"file\", \"path\": \"p\"},\n"
                     "  \"sink\": {\"type\": \"sqlite\", \"connection.url\": \"sqlite:a.db\",\n"
                     "    \"insert.mod\": \"upsert\"\n  }\n}"),
            "job.json:5:5: unknown key \"sink.insert.mod\"; did you mean \"insert.mode\"?");
  expect_problem(job_text(R"(, "paralelism": 2)"), R"(unknown key "paralelism"; did you mean "parallelism"?)");
  expect_problem(job_text("", "", R"(, "connection": 2)"), R"(did you mean "connection.url"?)");
  expect_problem(job_text(R"(, "checkpoint.interval": "1s")"),
                 R"(unknown key "checkpoint.interval"; write "interval" inside "checkpoint")");
}

TEST_F(JobReader, ReportsAllProblemsInTheOrderOfTheFile) {
  EXPECT_EQ(problems("{\"name\": \"No\",\n\"parallelism\": 0,\n\"sink\": 3,\n\"erorrs\": 1}"),
            "job.json:1:1: \"source\" is missing; add it, for example \"source\": {\"type\": \"kafka\", …}\n"
            "job.json:1:10: \"name\" is no name; use 1 to 64 of a-z 0-9 _ -\n"
            "job.json:2:16: \"parallelism\" must be a whole number from 1 to 256, without quotes\n"
            "job.json:3:9: \"sink\" must be an object, but is a number; change it\n"
            "job.json:4:1: unknown key \"erorrs\"; did you mean \"errors\"?");
}

TEST_F(JobReader, SaysWhatAValueMustBe) {
  const auto top = [](const std::string& text) { return job_text(", " + text); };
  expect_problem(top(R"("parallelism": "2")"), R"("parallelism" must be a whole number from 1 to 256, without quotes)");
  expect_problem(top(R"("parallelism": 1.5)"), "must be a whole number");
  expect_problem(top(R"("parallelism": null)"), R"("parallelism" must be a whole number, but is null)");
  expect_problem(
      top(R"("delivery.guarantee": "exactly-onc")"),
      R"("exactly-onc", which is none of its values; write one of: exactly-once, at-least-once, at-most-once)");
  expect_problem(top(R"("checkpoint": {"interval": 5})"),
                 R"("checkpoint.interval" has no unit; write ms, s, min, h or d)");
  expect_problem(top(R"("checkpoint": {"interval": "5"})"), "has no unit");
  expect_problem(top(R"("checkpoint": {"interval": "5m"})"), "must be a duration with its unit");
  expect_problem(top(R"("checkpoint": {"interval": "0"})"), "must be longer than 0");
  expect_problem(top(R"("checkpoint": {"max.bytes": "5 MB"})"), R"("checkpoint.max.bytes" must be a size above 0)");
  expect_problem(top(R"("checkpoint": {"max.rows": 18446744073709551615})"), "must be a whole number from 1,");
  expect_problem(top(R"("restart": {"attempts": "forever"})"), R"(or "unlimited")");
  expect_problem(top(R"("restart": {"attempts": 0})"), R"(from 1, without quotes, or "unlimited")");
  expect_problem(top(R"("errors": {"deadletter": "topic:"})"), "write one of: table, topic:NAME, none");
  expect_problem(job_text("", R"(, "topics.regex": "")"), R"("source.topics.regex" is empty)");
  expect_problem(job_text("", "", R"(, "auto.create": "true")"),
                 R"("sink.auto.create" must be true or false, without quotes)");
  expect_problem(job_text("", "", R"(, "pk.fields": ["id", "id"])"), R"("sink.pk.fields" names the same thing twice)");
  expect_problem(job_text("", "", R"(, "pk.fields": [1])"),
                 R"("sink.pk.fields" must be a list of strings, but is a number)");
  expect_problem(job_text("", "", R"(, "columns": ["id"])"), R"("sink.columns[0]" must be an object)");
  expect_problem(job_text("", "", R"(, "columns": [{"name": "a", "from": "@nothing"}])"),
                 R"("sink.columns[0].from" leads nowhere)");
  expect_problem(job_text("", "", R"(, "columns": [{"from": "a"}])"), R"("sink.columns[0].name" is missing)");
  expect_problem("[]", "a job is an object");
}

TEST_F(JobReader, NeverShowsWhatWasSubstituted) {
  setenv("SLUICE_TEST_PASSWORD", "s3cret", 1);
  const std::string secret = "\"${env:SLUICE_TEST_PASSWORD}\"";
  for (const auto& job :
       {job_text(", \"parallelism\": " + secret), job_text(", \"delivery.guarantee\": " + secret),
        job_text(", \"checkpoint\": {\"interval\": " + secret + ", \"max.bytes\": " + secret + "}"),
        job_text(", \"errors\": {\"deadletter\": " + secret + "}"), job_text("", ", \"topics.regex\": " + secret),
        job_text("", "", ", \"insert.mode\": " + secret + ", \"auto.create\": " + secret),
        job_text("", "", ", \"columns\": [{\"name\": " + secret + "}, {\"name\": " + secret + "}]"),
        job_text("", "", ", \"pk.fields\": [" + secret + "]"),
        job_text("", "", ", \"name\": \"A${env:SLUICE_TEST_PASSWORD}\""),
        std::string(
            R"({"name": "a", "source": {"type": "file", "path": "x"}, "sink": {"type": "sqlite", "connection.url": )") +
            secret + "}}"}) {
    const auto found = problems(job);
    EXPECT_NE(found, "") << job;
    EXPECT_EQ(found.find("s3cret"), std::string::npos) << found;
  }
}

TEST_F(JobReader, ShowsThePlaceOfAMissingVariable) {
  unsetenv("SLUICE_TEST_ABSENT");
  EXPECT_EQ(problems(job_text(",\n\"checkpoint\": {\"directory\": \"${env:SLUICE_TEST_ABSENT}/x\"}")),
            "job.json:2:29: \"checkpoint.directory\": the environment variable \"SLUICE_TEST_ABSENT\" is not set; "
            "export it first");
}

TEST_F(JobReader, SaysWhyAFileCannotBeRead) {
  EXPECT_THROW(read_job("/nowhere/job.json"), JobError);
  try {
    read_job(folder_.string());
    FAIL() << "a directory was read";
  } catch (const JobError& error) {
    EXPECT_NE(std::string(error.what()).find("is a directory"), std::string::npos) << error.what();
  }
  expect_problem("", "job.json:1:1: not JSON");
}

}  // namespace

}  // namespace sluice::format
