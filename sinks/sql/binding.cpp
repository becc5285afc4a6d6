#include "sinks/sql/binding.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "core/model/error.h"

namespace sluice::sql {

namespace {

using From = CellSource::From;

const std::array<From, 3> kafka_key_cells{From::topic, From::partition, From::offset};

std::string list(const std::vector<std::string>& names) {
  std::string text;
  for (const auto& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

bool is_key(const MappingSettings& settings, const std::string& column) {
  return std::find(settings.pk_fields.begin(), settings.pk_fields.end(), column) != settings.pk_fields.end();
}

// Where the i-th key column comes from, unless `columns` says.
CellSource key_source(const MappingSettings& settings, std::size_t i) {
  if (settings.pk_mode == PkMode::kafka) return {kafka_key_cells[i], {}};
  return settings.key_is_text ? CellSource{From::key, {}} : CellSource{From::key_path, {settings.pk_fields[i]}};
}

// The job's `columns`, or one by name for each column of the table; and those of a key that is not in the value.
std::vector<ColumnMapping> mappings(const MappingSettings& settings, const std::vector<std::string>& by_name) {
  std::vector<ColumnMapping> all = settings.columns;
  if (all.empty()) {
    for (const auto& name : by_name) all.push_back({name, std::nullopt, CellSource{From::value_path, {name}}});
  }
  if (settings.pk_mode != PkMode::kafka && settings.pk_mode != PkMode::record_key) return all;
  for (std::size_t i = 0; i < settings.pk_fields.size(); ++i) {
    const auto found = std::find_if(all.begin(), all.end(),
                                    [&](const auto& mapping) { return mapping.name == settings.pk_fields[i]; });
    if (found == all.end()) {
      all.push_back({settings.pk_fields[i], std::nullopt, key_source(settings, i)});
    } else if (settings.columns.empty() || (settings.pk_mode == PkMode::record_key && found->by_name)) {
      found->from = key_source(settings, i);
    }
  }
  return all;
}

const Column& column_of(const Table& table, const std::string& name) {
  if (const Column* const column = table.find(name)) return *column;
  std::vector<std::string> known;
  for (const Column& column : table.columns) known.push_back(column.name);
  throw Error(Fault::fatal, "table " + table.name + " has no column \"" + name + "\" (it has: " + list(known) +
                                "). Names are compared exactly, upper and lower case included. Add the column or mend "
                                "\"columns\" or \"pk.fields\" in the job file");
}

void require_unique(const Table& table, const MappingSettings& settings) {
  auto wanted = settings.pk_fields;
  std::sort(wanted.begin(), wanted.end());
  for (auto key : table.unique_keys) {
    std::sort(key.begin(), key.end());
    if (key == wanted) return;
  }
  throw Error(Fault::fatal, "table " + table.name + " has no primary key or unique index on exactly (" +
                                list(settings.pk_fields) +
                                "), which insert.mode upsert needs to find the row. Create one: "
                                "CREATE UNIQUE INDEX ON " +
                                table.name + " (" + list(settings.pk_fields) + "), or change \"pk.fields\"");
}

// Where only one field of the key is wanted, a key that is no object is that field.
void mark_whole_keys(RowShape& shape) {
  std::set<std::vector<std::string>> paths;
  for (const CellSource& cell : shape.cells) {
    if (cell.from == From::key_path) paths.insert(cell.path);
  }
  if (paths.size() != 1) return;
  for (CellSource& cell : shape.cells) cell.whole_key = cell.from == From::key_path;
}

// A record that deletes has nothing but its key.
void require_key_of_record(const Table& table, const Binding& binding) {
  for (const std::size_t i : binding.plan.key) {
    const Column& column = binding.plan.columns[i];
    const From from = binding.shape.cells[i].from;
    const std::string name = table.name + "." + column.name;
    if (from != From::key && from != From::key_path) {
      throw Error(Fault::fatal,
                  "key column " + name +
                      " does not come from the record's key, which is all that a record that deletes has: "
                      "take \"from\" out of its entry in \"columns\", or write \"@key." +
                      column.name + "\"");
    }
    if (column.family == Family::float32 || column.family == Family::float64) {
      throw Error(Fault::fatal, "key column " + name +
                                    " is a floating-point number, by which no row is found for sure: delete.enabled "
                                    "needs a key of another type");
    }
  }
}

void require_written(const Table& table, const LoadPlan& plan) {
  for (const Column& column : table.columns) {
    const bool written =
        std::any_of(plan.columns.begin(), plan.columns.end(), [&](const Column& c) { return c.name == column.name; });
    if (written || column.nullable || column.has_default || column.generated) continue;
    throw Error(Fault::fatal,
                "column " + table.name + "." + column.name +
                    " is NOT NULL without a default, and the job does not write it. Add it to \"columns\" or "
                    "give it a default");
  }
}

}  // namespace

Binding bind_columns(const Table& table, const MappingSettings& settings) {
  if (!table.obstacle.empty()) {
    throw Error(Fault::fatal, "table " + table.name + " cannot be written exactly once: " + table.obstacle);
  }
  std::vector<std::string> names;
  for (const Column& column : table.columns) {
    if (!column.generated) names.push_back(column.name);
  }
  Binding binding;
  binding.shape.erases = settings.erases;
  binding.plan.schema = table.schema;
  binding.plan.table = table.name;
  binding.plan.mode = settings.insert_mode;
  for (const ColumnMapping& mapping : mappings(settings, names)) {
    const Column& column = column_of(table, mapping.name);
    if (column.generated) {
      throw Error(Fault::fatal, "column " + table.name + "." + column.name +
                                    " is generated by the database and cannot be written: take it out of \"columns\"");
    }
    binding.shape.cells.push_back(mapping.from);
    // A key or header is not base64, as bytes inside JSON are: a binary column gets it as it came.
    binding.shape.cells.back().raw =
        column.family == Family::bytes && (mapping.from.from == From::key || mapping.from.from == From::header);
    binding.plan.columns.push_back(column);
  }
  for (const auto& field : settings.pk_mode == PkMode::none ? std::vector<std::string>{} : settings.pk_fields) {
    const auto found = std::find_if(binding.plan.columns.begin(), binding.plan.columns.end(),
                                    [&](const Column& column) { return column.name == field; });
    if (found == binding.plan.columns.end()) {
      column_of(table, field);
      throw Error(Fault::fatal,
                  "\"pk.fields\" names " + field + ", which the job does not write: add it to \"columns\"");
    }
    binding.plan.key.push_back(static_cast<std::size_t>(found - binding.plan.columns.begin()));
  }
  mark_whole_keys(binding.shape);
  if (settings.insert_mode == InsertMode::upsert) require_unique(table, settings);
  if (settings.erases) require_key_of_record(table, binding);
  require_written(table, binding.plan);
  return binding;
}

std::string create_statement(const Dialect& dialect, const std::string& quoted_table, const MappingSettings& settings,
                             const std::vector<Field>& sample) {
  std::vector<std::string> fields;
  for (const Field& field : sample) fields.push_back(field.name);
  std::string columns;
  for (const ColumnMapping& mapping : mappings(settings, fields)) {
    const bool key = settings.pk_mode != PkMode::none && is_key(settings, mapping.name);
    Kind kind = Kind::text;
    if (mapping.from.from == From::partition || mapping.from.from == From::offset) kind = Kind::integer;
    if (mapping.from.from == From::timestamp) kind = Kind::timestamp;
    for (const Field& field : sample) {
      const std::vector<std::string> path{field.name};
      if (mapping.from == CellSource{From::value_path, path} || mapping.from == CellSource{From::key_path, path}) {
        kind = field.kind;
      }
    }
    columns += (columns.empty() ? "" : ", ") + dialect.quote(mapping.name) + " " +
               mapping.type.value_or(dialect.type_for(kind, key));
  }
  if (columns.empty()) {
    throw Error(Fault::fatal, "cannot create table " + quoted_table +
                                  ": no record of the first ones has a field. Create the table "
                                  "by hand or list its \"columns\" in the job file");
  }
  if (settings.pk_mode != PkMode::none) {
    columns += ", PRIMARY KEY (";
    for (const auto& field : settings.pk_fields) {
      columns += (field == settings.pk_fields.front() ? "" : ", ") + dialect.quote(field);
    }
    columns += ")";
  }
  // Another task or process may be creating it at this moment.
  return "CREATE TABLE IF NOT EXISTS " + quoted_table + " (" + columns + ")";
}

}  // namespace sluice::sql
