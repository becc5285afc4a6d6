// docs/job.schema.json and the reader know the same keys.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "core/format/job_keys.h"
#include "core/format/job_names.h"
#include "core/format/job_test_file.h"

namespace sluice::format {

namespace {

std::filesystem::path docs_folder() {
  return std::filesystem::path(__FILE__).parent_path().parent_path().parent_path() / "docs";
}

class JobSchema : public JobFileTest {
 protected:
  JobSchema() {
    std::ifstream file(docs_folder() / "job.schema.json");
    schema_ = nlohmann::json::parse(file);
  }

  const nlohmann::json& resolved(const nlohmann::json& node) const {
    if (!node.contains("$ref")) return node;
    return schema_.at(nlohmann::json::json_pointer(node.at("$ref").get<std::string>().substr(1)));
  }

  void expect_same_keys(const nlohmann::json& node, const Section& section, const std::string& path) {
    const auto& object = resolved(node);
    EXPECT_EQ(object.at("additionalProperties"), false) << path;
    std::set<std::string> in_schema;
    for (const auto& [name, value] : object.at("properties").items()) in_schema.insert(name);
    std::set<std::string> in_reader;
    for (const auto& key : section.keys) in_reader.emplace(key.name);
    EXPECT_EQ(in_schema, in_reader) << path;
    for (const auto& key : section.keys) {
      const auto& value = object.at("properties").at(std::string(key.name));
      const auto inner = path + "." + std::string(key.name);
      EXPECT_TRUE(value.contains("description") || resolved(value).contains("description")) << inner;
      if (key.holds == Holds::section) expect_same_keys(value, *key.section, inner);
      if (key.holds == Holds::sections) expect_same_keys(value.at("items"), *key.section, inner);
    }
  }

  template <typename Names>
  void expect_same_names(const std::string& pointer, const Names& names) {
    std::vector<std::string> texts;
    for (const auto& name : names) texts.emplace_back(name.text);
    EXPECT_EQ(schema_.at(nlohmann::json::json_pointer(pointer)).at("anyOf").at(0).at("enum"), nlohmann::json(texts))
        << pointer;
  }

  nlohmann::json schema_;
};

TEST_F(JobSchema, HasTheKeysOfTheReader) {
  expect_same_keys(schema_, job_keys(), "job");
}

TEST_F(JobSchema, HasTheNamesOfTheReader) {
  expect_same_names("/properties/delivery.guarantee", guarantee_names);
  expect_same_names("/$defs/source/properties/type", source_type_names);
  expect_same_names("/$defs/source/properties/scan.startup.mode", start_mode_names);
  expect_same_names("/$defs/source/properties/value.format", value_format_names);
  expect_same_names("/$defs/source/properties/key.format", key_format_names);
  expect_same_names("/$defs/sink/properties/type", sink_type_names);
  expect_same_names("/$defs/sink/properties/insert.mode", insert_mode_names);
  expect_same_names("/$defs/sink/properties/pk.mode", pk_mode_names);
  expect_same_names("/$defs/sink/properties/commit.protocol", commit_protocol_names);
  expect_same_names("/properties/restart/properties/strategy", restart_strategy_names);
  expect_same_names("/properties/errors/properties/tolerance", tolerance_names);
  expect_same_names("/properties/checkpoint/properties/store", checkpoint_place_names);
}

// A key that the table lists and nobody reads would be ignored in silence: each must complain about a wrong value.
TEST_F(JobSchema, EveryListedKeyIsRead) {
  for (const auto& path : paths_in(job_keys())) {
    if (path == "$schema") continue;
    const auto text = path == "source.path" ? R"({"name": "a", "source": {"type": "file"}})" : job_text();
    const auto found = problems(text, {path + "=[[{}]]"});  // no key takes a list in a list
    EXPECT_NE(found.find("--set " + path + ": "), std::string::npos) << path << ": " << found;
  }
}

TEST_F(JobSchema, TheReferenceNamesEveryKey) {
  std::ifstream file(docs_folder() / "job-file.md");
  const std::string reference{std::istreambuf_iterator<char>(file), {}};
  const auto expect_named = [&](const auto& self, const Section& section) -> void {
    for (const auto& key : section.keys) {
      EXPECT_TRUE(reference.find("`" + std::string(key.name) + "`") != std::string::npos || key.name == "$schema")
          << key.name;
      if (key.section != nullptr) self(self, *key.section);
    }
  };
  expect_named(expect_named, job_keys());
}

}  // namespace

}  // namespace sluice::format
