#include "sinks/sql/binding.h"

#include <gtest/gtest.h>

#include "core/model/error.h"

namespace sluice::sql {
namespace {

using From = CellSource::From;

Column column(const char* name, Family family = Family::text) {
  Column made;
  made.name = name;
  made.family = family;
  return made;
}

Table orders() {
  Table table{"public", "orders", {column("id", Family::int64), column("note"), column("total")}, {{"id"}}, true};
  table.columns[0].nullable = false;
  table.columns[2].generated = true;
  return table;
}

CellSource path(const char* name) {
  return {From::value_path, {name}};
}

std::string refusal(const Table& table, const MappingSettings& settings) {
  try {
    bind_columns(table, settings);
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::fatal);
    return error.what();
  }
  return "";
}

void expect_refused(const Table& table, const MappingSettings& settings, const char* why) {
  const std::string text = refusal(table, settings);
  EXPECT_NE(text.find(why), std::string::npos) << text;
}

TEST(Binding, ByNameFromTheTableWithoutWhatIsGenerated) {
  const Binding bound = bind_columns(orders(), {});
  EXPECT_EQ(bound.shape.cells, (std::vector<CellSource>{path("id"), path("note")}));
  ASSERT_EQ(bound.plan.columns.size(), 2U);
  EXPECT_EQ(bound.plan.columns[1].name, "note");
  EXPECT_TRUE(bound.plan.key.empty());
}

TEST(Binding, ColumnsOfTheJobComeFromWhereItSays) {
  MappingSettings settings;
  settings.columns = {{"note", std::nullopt, path("text")}, {"id", std::nullopt, {From::offset, {}}}};
  const Binding bound = bind_columns(orders(), settings);
  EXPECT_EQ(bound.shape.cells, (std::vector<CellSource>{path("text"), {From::offset, {}}}));
  EXPECT_EQ(bound.plan.columns[0].name, "note");
}

TEST(Binding, KafkaKeysAreWrittenWhereverTheyStand) {
  Table table = orders();
  table.columns.push_back(column("p", Family::int32));
  table.columns.push_back(column("t"));
  table.columns.push_back(column("o", Family::int64));
  table.unique_keys = {{"o", "p", "t"}};
  MappingSettings settings;
  settings.insert_mode = InsertMode::upsert;
  settings.pk_mode = PkMode::kafka;
  settings.pk_fields = {"t", "p", "o"};
  const Binding bound = bind_columns(table, settings);
  EXPECT_EQ(bound.plan.key, (std::vector<std::size_t>{3, 2, 4}));
  EXPECT_EQ(bound.shape.cells[2].from, From::partition);
  EXPECT_EQ(bound.shape.cells[3].from, From::topic);
}

TEST(Binding, OnlyAKeyInABinaryColumnStaysRaw) {
  Table table = orders();
  table.columns[1].family = Family::bytes;
  MappingSettings settings;
  settings.columns = {{"id", std::nullopt, path("id")}, {"note", std::nullopt, {From::key, {}}}};
  EXPECT_TRUE(bind_columns(table, settings).shape.cells[1].raw);
  settings.columns[1].from = path("note");
  EXPECT_FALSE(bind_columns(table, settings).shape.cells[1].raw);
}

TEST(Binding, RefusesWhatCannotWork) {
  MappingSettings missing;
  missing.columns = {{"ID", std::nullopt, path("id")}};
  expect_refused(orders(), missing, "has no column \"ID\"");
  MappingSettings generated;
  generated.columns = {{"id", std::nullopt, path("id")}, {"total", std::nullopt, path("total")}};
  expect_refused(orders(), generated, "generated");
  MappingSettings unwritten;
  unwritten.columns = {{"note", std::nullopt, path("note")}};
  expect_refused(orders(), unwritten, "orders.id is NOT NULL");
}

TEST(Binding, UpsertNeedsAUniqueKeyOnExactlyItsFields) {
  MappingSettings settings;
  settings.insert_mode = InsertMode::upsert;
  settings.pk_mode = PkMode::record_value;
  settings.pk_fields = {"id"};
  EXPECT_EQ(bind_columns(orders(), settings).plan.key, (std::vector<std::size_t>{0}));
  Table wider = orders();
  wider.unique_keys = {{"id", "note"}};
  expect_refused(wider, settings, "CREATE UNIQUE INDEX ON orders (id)");
}

}  // namespace
}  // namespace sluice::sql
