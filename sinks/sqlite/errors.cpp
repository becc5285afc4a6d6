#include "sinks/sqlite/errors.h"

#include <sqlite3.h>

#include <utility>

namespace sluice::sqlite {
namespace {

int primary(int code) {
  return code & 0xFF;
}

std::string_view primary_name(int code) {
  switch (primary(code)) {
    case SQLITE_ERROR:
      return "SQLITE_ERROR";
    case SQLITE_PERM:
      return "SQLITE_PERM";
    case SQLITE_ABORT:
      return "SQLITE_ABORT";
    case SQLITE_BUSY:
      return "SQLITE_BUSY";
    case SQLITE_LOCKED:
      return "SQLITE_LOCKED";
    case SQLITE_NOMEM:
      return "SQLITE_NOMEM";
    case SQLITE_READONLY:
      return "SQLITE_READONLY";
    case SQLITE_INTERRUPT:
      return "SQLITE_INTERRUPT";
    case SQLITE_IOERR:
      return "SQLITE_IOERR";
    case SQLITE_CORRUPT:
      return "SQLITE_CORRUPT";
    case SQLITE_FULL:
      return "SQLITE_FULL";
    case SQLITE_CANTOPEN:
      return "SQLITE_CANTOPEN";
    case SQLITE_PROTOCOL:
      return "SQLITE_PROTOCOL";
    case SQLITE_SCHEMA:
      return "SQLITE_SCHEMA";
    case SQLITE_TOOBIG:
      return "SQLITE_TOOBIG";
    case SQLITE_CONSTRAINT:
      return "SQLITE_CONSTRAINT";
    case SQLITE_MISMATCH:
      return "SQLITE_MISMATCH";
    case SQLITE_MISUSE:
      return "SQLITE_MISUSE";
    case SQLITE_AUTH:
      return "SQLITE_AUTH";
    case SQLITE_RANGE:
      return "SQLITE_RANGE";
    case SQLITE_NOTADB:
      return "SQLITE_NOTADB";
    default:
      return {};
  }
}

std::string_view next_step(int code) {
  switch (primary(code)) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_PROTOCOL:
      return "the database file is locked by another process or session; SQLite has one writer at a time, and Sluice "
             "tries "
             "again. If it goes on, end the process that keeps a transaction open (lsof names it)";
    case SQLITE_FULL:
      return "the disk is full; free some space and Sluice goes on";
    case SQLITE_IOERR:
      return "reading or writing the file failed; look at the disk and the kernel's log, Sluice tries again";
    case SQLITE_NOMEM:
      return "memory ran out; Sluice tries again";
    case SQLITE_CANTOPEN:
      return "the file cannot be opened; the path must name a file in a directory that exists and may be written to, "
             "since "
             "SQLite keeps its log beside the file";
    case SQLITE_READONLY:
    case SQLITE_PERM:
      return "the database cannot be written to; give the user of this process write access to the file and its "
             "directory";
    case SQLITE_NOTADB:
      return "the file is no SQLite database, or it is encrypted; name another path";
    case SQLITE_CORRUPT:
      return "the database file is damaged; run PRAGMA integrity_check and restore it from a backup";
    case SQLITE_AUTH:
      return "SQLite refused the statement";
    default:
      return {};
  }
}

}  // namespace

Fault classify(int code) {
  switch (primary(code)) {
    case SQLITE_CONSTRAINT:
    case SQLITE_MISMATCH:  // text into an INTEGER PRIMARY KEY
    case SQLITE_TOOBIG:
      return Fault::bad_record;
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_PROTOCOL:
    case SQLITE_FULL:
    case SQLITE_IOERR:
    case SQLITE_NOMEM:
    case SQLITE_ABORT:
    case SQLITE_INTERRUPT:
    case SQLITE_SCHEMA:
      return Fault::retryable;
    default:
      // SQLITE_ERROR stands for what is wrong with the statement: no such table, no such column.
      return Fault::fatal;
  }
}

std::string code_name(int code) {
  switch (code) {
    case SQLITE_CONSTRAINT_CHECK:
      return "SQLITE_CONSTRAINT_CHECK";
    case SQLITE_CONSTRAINT_DATATYPE:
      return "SQLITE_CONSTRAINT_DATATYPE";
    case SQLITE_CONSTRAINT_FOREIGNKEY:
      return "SQLITE_CONSTRAINT_FOREIGNKEY";
    case SQLITE_CONSTRAINT_NOTNULL:
      return "SQLITE_CONSTRAINT_NOTNULL";
    case SQLITE_CONSTRAINT_PRIMARYKEY:
      return "SQLITE_CONSTRAINT_PRIMARYKEY";
    case SQLITE_CONSTRAINT_ROWID:
      return "SQLITE_CONSTRAINT_ROWID";
    case SQLITE_CONSTRAINT_TRIGGER:
      return "SQLITE_CONSTRAINT_TRIGGER";
    case SQLITE_CONSTRAINT_UNIQUE:
      return "SQLITE_CONSTRAINT_UNIQUE";
    default:
      break;
  }
  const std::string_view name = primary_name(code);
  return name.empty() ? "SQLite result " + std::to_string(code) : std::string(name);
}

Error error_of(int code, std::string_view action, std::string_view path, std::string_view detail) {
  std::string what = std::string(action) + " in sqlite " + std::string(path) + " failed: " + std::string(detail);
  if (const std::string_view step = next_step(code); !step.empty()) what.append("; ").append(step);
  return Error(classify(code), what, code_name(code));
}

}  // namespace sluice::sqlite
