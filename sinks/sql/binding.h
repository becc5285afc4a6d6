// Which cell of a record goes into which column: decided once per table, without I/O.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/model/schema.h"
#include "sinks/sql/database.h"
#include "sinks/sql/table.h"

namespace sluice::sql {

enum class PkMode { none, kafka, record_value, record_key };

// An entry of the job's `columns`.
struct ColumnMapping {
  std::string name;
  std::optional<std::string> type;  // as the database writes it; needed only to create the table
  CellSource from;
  bool by_name = false;  // the job did not say where it comes from
};

struct MappingSettings {
  InsertMode insert_mode = InsertMode::insert;
  PkMode pk_mode = PkMode::none;
  std::vector<std::string> pk_fields;  // columns; kafka: names of the topic, partition and offset columns
  bool key_is_text = false;            // record_key: the key as a whole is the only field
  bool erases = false;                 // tombstones erase the row of their key
  bool auto_create = false;
  std::vector<ColumnMapping> columns;  // empty: by name from the table
};

struct Binding {
  RowShape shape;
  LoadPlan plan;
};

// Every column of the table, or every mapped one, with where it comes from. Throws fatal when the table lacks a mapped
// column, cannot be upserted by its key, or demands a column that the job does not write.
Binding bind_columns(const Table& table, const MappingSettings& settings);

// The CREATE TABLE for a job that says auto.create: from its `columns` if it has any, else from what was seen in a
// sample.
std::string create_statement(const Dialect& dialect, const std::string& quoted_table, const MappingSettings& settings,
                             const std::vector<Field>& sample);

}  // namespace sluice::sql
