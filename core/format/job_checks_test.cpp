#include "core/format/job_checks.h"

#include <gtest/gtest.h>

#include "core/format/job_test_file.h"

namespace sluice::format {

namespace {

class JobChecks : public JobFileTest {
 protected:
  void expect_problem(const std::string& text, const std::string& part) {
    const auto found = problems(text);
    EXPECT_NE(found.find(part), std::string::npos) << "looked for: " << part << "\nfound: " << found;
  }
  static std::string with_source(const std::string& keys) {
    return R"({"name": "a", "source": {"type": "kafka", "bootstrap.servers": "b:1", )" + keys +
           R"(}, "sink": {"type": "sqlite", "connection.url": "sqlite:a.db"}})";
  }
  static std::string with_url(const std::string& type, const std::string& url) {
    return R"({"name": "a", "source": {"type": "file", "path": "x"}, "sink": {"type": ")" + type +
           R"(", "connection.url": ")" + url + "\"}}";
  }
};

TEST_F(JobChecks, NamesAreKeysOfTables) {
  EXPECT_TRUE(is_name("a-z_09"));
  EXPECT_TRUE(is_name(std::string(64, 'a')));
  for (const auto& text :
       {std::string(), std::string(65, 'a'), std::string("A"), std::string("a b"), std::string("a/b")}) {
    EXPECT_FALSE(is_name(text)) << text;
  }
}

TEST_F(JobChecks, ExactlyOneOfTopicsAndPattern) {
  EXPECT_EQ(problems(with_source(R"("topics.regex": "^o.*")")), "");
  expect_problem(with_source(R"("group.id": "g")"), R"("source.topics" is missing)");
  expect_problem(with_source(R"("topics": ["a"], "topics.regex": "^o.*")"),
                 R"("source.topics.regex" stands beside "topics")");
  expect_problem(with_source(R"("topics": [])"), R"("source.topics" names no topic)");
  expect_problem(with_source(R"("topics": ["a b"])"), "a name that Kafka does not allow");
  expect_problem(R"({"name": "a", "source": {"type": "kafka", "topics": ["a"]}, )"
                 R"("sink": {"type": "sqlite", "connection.url": "sqlite:a"}})",
                 R"("source.bootstrap.servers" is missing)");
}

TEST_F(JobChecks, AStartPositionNeedsItsMode) {
  const std::string topics = R"("topics": ["a"], )";
  const auto at_time =
      read(with_source(topics + R"("scan.startup.mode": "timestamp", "scan.startup.timestamp-millis": 1700)"));
  EXPECT_EQ(at_time.source.kafka.start_timestamp_ms, 1700);
  expect_problem(with_source(topics + R"("scan.startup.mode": "timestamp")"),
                 R"("source.scan.startup.timestamp-millis" is missing)");
  expect_problem(with_source(topics + R"("scan.startup.timestamp-millis": 1700)"), "has no effect here");
  expect_problem(with_source(topics + R"("scan.startup.mode": "specific-offsets")"),
                 R"("source.scan.startup.specific-offsets" is missing)");
  const auto specific = [&](const std::string& map) {
    return with_source(topics + R"("scan.startup.mode": "specific-offsets", "scan.startup.specific-offsets": )" + map);
  };
  EXPECT_EQ(problems(specific(R"({"a:0": 1})")), "");
  expect_problem(specific(R"({"b:0": 1})"), R"(names the topic "b", which "topics" lacks)");
  for (const auto* map : {R"({"a": 1})", R"({"a:": 1})", R"({":0": 1})", R"({"a:-1": 1})", R"({"a:2147483648": 1})"}) {
    expect_problem(specific(map), "write topic:partition");
  }
  expect_problem(specific(R"({"a:0": -1})"), "must be a whole number from 0");
  expect_problem(specific(R"(7)"), "must be an object");
}

TEST_F(JobChecks, TheUrlFitsTheSinkAndIsNotShown) {
  for (const auto* url : {"postgresql://s3cret", "postgres://s3cret"})
    EXPECT_EQ(problems(with_url("postgres", url)), "");
  for (const auto* url : {"sqlite:s3cret.db", "sqlite:///s3cret.db"}) EXPECT_EQ(problems(with_url("sqlite", url)), "");
  for (const auto* url : {"mysql://app:s3cret@h/d", "sqlite:s3cret", "postgresql://", "host=h password=s3cret"}) {
    const auto found = problems(with_url("postgres", url));
    EXPECT_NE(found.find(R"("sink.connection.url" is no URL for the sink type "postgres")"), std::string::npos)
        << found;
    EXPECT_EQ(found.find("s3cret"), std::string::npos) << found;
  }
  expect_problem(with_url("sqlite", "s3cret.db"), R"(write one like "sqlite:///var/lib/shop.db")");
  expect_problem(R"({"name": "a", "source": {"type": "file", "path": "x"}, "sink": {"type": "sqlite"}})",
                 R"("sink.connection.url" is missing)");
}

TEST_F(JobChecks, KeysOfTheTable) {
  const auto sink = [](const std::string& keys) { return job_text("", "", ", " + keys); };
  EXPECT_EQ(problems(sink(R"("insert.mode": "upsert", "pk.mode": "record_value", "pk.fields": ["id"])")), "");
  EXPECT_EQ(problems(sink(R"("insert.mode": "insert", "pk.mode": "record_value", "pk.fields": ["id"])")), "");
  EXPECT_EQ(problems(sink(R"("insert.mode": "upsert", "pk.mode": "kafka", "pk.fields": ["t", "p", "o"])")), "");
  const auto by_origin = read(sink(R"("insert.mode": "upsert", "pk.mode": "kafka")"));
  EXPECT_EQ(by_origin.sinks[0].pk_fields,
            (std::vector<std::string>{"__connect_topic", "__connect_partition", "__connect_offset"}));
  expect_problem(sink(R"("insert.mode": "upsert")"), R"("sink.insert.mode" upsert needs a key)");
  expect_problem(sink(R"("pk.mode": "record_value")"), R"("sink.pk.fields" names no column)");
  expect_problem(sink(R"("pk.mode": "record_value", "pk.fields": [])"), R"("sink.pk.fields" names no column)");
  expect_problem(sink(R"("pk.fields": ["id"])"), R"("sink.pk.fields" has no effect)");
  expect_problem(sink(R"("delete.enabled": true)"), R"("sink.delete.enabled" needs a key)");
  expect_problem(
      sink(R"("delete.enabled": true, "insert.mode": "upsert", "pk.mode": "record_value", "pk.fields": ["id"])"),
      R"("sink.delete.enabled" needs a key)");
  expect_problem(sink(R"("pk.mode": "record_key", "pk.fields": ["id"])"), R"(write "key.format": "json")");
  expect_problem(sink(R"("columns": [{"name": "a", "from": "@key.id"}])"), R"(write "key.format": "json")");
  expect_problem(sink(R"("pk.mode": "kafka", "pk.fields": ["t", "p"])"), R"("sink.pk.fields" must name three columns)");
}

TEST_F(JobChecks, Columns) {
  const auto sink = [](const std::string& keys) { return job_text("", "", ", " + keys); };
  expect_problem(sink(R"("columns": [{"name": "a"}, {"name": "a", "from": "b"}])"),
                 R"("sink.columns[1].name" is that of another column, too)");
  expect_problem(sink(R"("pk.mode": "record_value", "pk.fields": ["id"], "columns": [{"name": "a"}])"),
                 R"("sink.pk.fields" names a column that "columns" lacks)");
  EXPECT_EQ(problems(sink(R"("pk.mode": "record_value", "pk.fields": ["a"], "columns": [{"name": "a"}])")), "");
}

TEST_F(JobChecks, GuaranteeAndProtocolMeanTheSame) {
  const auto job = [](const std::string& top, const std::string& sink = "") { return job_text(top, "", sink); };
  const auto weaker = read(job(R"(, "delivery.guarantee": "at-least-once")"));
  EXPECT_EQ(weaker.sinks[0].commit_protocol, CommitProtocol::none) << "what the guarantee asks for";
  EXPECT_EQ(problems(job(R"(, "delivery.guarantee": "at-most-once")", R"(, "commit.protocol": "none")")), "");
  EXPECT_EQ(problems(job("", R"(, "commit.protocol": "wal")")), "");
  expect_problem(job("", R"(, "commit.protocol": "none")"), R"("sink" has "commit.protocol": "none")");
  expect_problem(job(R"(, "delivery.guarantee": "at-least-once")", R"(, "commit.protocol": "ledger")"),
                 R"("delivery.guarantee" is weaker than "commit.protocol": "ledger")");
  expect_problem(R"({"name": "a", "delivery.guarantee": "at-most-once", "source": {"type": "file", "path": "x"},
    "sink": {"type": "sqlite", "connection.url": "sqlite:a.db"}})",
                 R"("delivery.guarantee" leaves the positions to the source, and files keep none)");
}

TEST_F(JobChecks, DurationsThatContradictEachOther) {
  expect_problem(job_text(R"(, "checkpoint": {"interval": "1s", "min.pause": "2s"})"),
                 R"("checkpoint.min.pause" is longer)");
  expect_problem(job_text(R"(, "restart": {"initial": "1min"})"), R"("restart.initial" is longer than "restart.max")");
  const auto job = read(job_text(R"(, "checkpoint": {"interval": "1ms"})"));
  EXPECT_EQ(job.checkpoint.min_pause, std::chrono::milliseconds{1});
}

TEST_F(JobChecks, SinksAreOneOrTheOther) {
  const std::string start = R"({"name": "a", "source": {"type": "file", "path": "x"})";
  const std::string one = R"({"type": "sqlite", "connection.url": "sqlite:a.db"})";
  expect_problem(start + "}", R"("sink" is missing)");
  expect_problem(start + R"(, "sinks": []})", R"("sinks" holds no sink)");
  expect_problem(start + R"(, "sink": )" + one + R"(, "sinks": [)" + one + "]}", R"("sinks" stands beside "sink")");
  expect_problem(start + R"(, "sinks": [)" + one + ", " + one + "]}",
                 R"("sinks[1].name" is that of another sink, too)");
  EXPECT_EQ(read(start + R"(, "sinks": [)" + one + "]}").sinks.at(0).name, "sqlite");
}

TEST_F(JobChecks, WhatSeveralSinksMustSayTogether) {
  const auto with = [](const std::string& first, const std::string& second, const std::string& top = {}) {
    return R"({"name": "a", "source": {"type": "kafka", "bootstrap.servers": "h:1", "topics": ["orders", "bills"]}, )"
           R"("sinks": [)"
           R"({"type": "sqlite", "name": "one", "connection.url": "sqlite:a")" +
           first + R"(}, {"type": "sqlite", "name": "two", "connection.url": "sqlite:b")" + second + "}]" + top + "}";
  };
  EXPECT_EQ(read(with("", "")).sinks.size(), 2U);
  EXPECT_EQ(read(with(R"(, "topics": ["bills"])", "")).sinks.at(0).topics, (std::vector<std::string>{"bills"}));
  expect_problem(with(R"(, "topics": ["bill"])", ""), "\"bill\" in the sink one, which the source does not read");
  expect_problem(with(R"(, "commit.protocol": "prepared")", ""), "different values of \"commit.protocol\"");
  EXPECT_EQ(read(with("", "", R"(, "errors": {"tolerance": "all"})")).errors.tolerance, Tolerance::all);
}

}  // namespace

}  // namespace sluice::format
