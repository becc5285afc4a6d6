// What the conformance suite must know about a sink: how to make one over an empty table, and how to look at that table
// through a connection of its own. Whoever writes a sink writes one of these.
#pragma once

#include <unistd.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/api/sink.h"
#include "core/model/schema.h"

namespace sluice::testing {

struct TestColumn {
  std::string name;
  Kind kind = Kind::text;
};

// A table that the suite wants. Topics of its name go there, and each cell comes from the record's field of the
// column's name.
struct TestTable {
  std::string name;
  std::vector<TestColumn> columns;
  std::vector<std::string> key;             // names of columns; empty: rows may repeat
  std::optional<std::string> refused_note;  // a constraint refuses rows whose column "note" says this
};

struct TestJob {
  std::string job = "conformance-" + std::to_string(getpid());  // two runs may share a server
  std::string sink = "main";
  bool upsert = false;               // by the tables' key; else plain inserts
  std::vector<std::string> key;      // of the tables that it writes
  std::optional<std::string> table;  // all topics go there; else each to the table of its name
};

// A cell as text, the same for every database: integers and decimals as digits, true | false, reals with 17 digits,
// timestamps as microseconds since 1970 in UTC, bytes as lower-case hex, text and JSON as they are. Nothing: NULL.
using TestRow = std::vector<std::optional<std::string>>;

class SinkUnderTest {
 public:
  virtual ~SinkUnderTest() = default;

  // The table does not exist yet.
  virtual void create_table(const TestTable& table) = 0;

  // A sink as a process of its own would make it, prepared; everything that the sinks of one object write goes to the
  // same database. The object outlives them.
  virtual std::unique_ptr<Sink> open(const TestJob& job) = 0;

  // What an outside reader sees of the table now, in any order.
  virtual std::vector<TestRow> rows(const TestTable& table) = 0;

  // The dead letters of TestJob's default job and sink, in any order.
  virtual std::vector<DeadLetter> letters() = 0;

  // Makes every owner that the ledger names look like a writer of another process, where a sink tells them apart.
  virtual void disown_ledger() {}
};

}  // namespace sluice::testing
