#include "sinks/sqlite/sqlite_database.h"

#include <filesystem>
#include <system_error>
#include <utility>

#include "sinks/sqlite/describe.h"
#include "sinks/sqlite/loader.h"
#include "sinks/sqlite/session.h"

namespace sluice::sqlite {

std::span<const sql::Migration> sqlite_migrations();  // made by cmake from migrations/sqlite/

SqliteDatabase::SqliteDatabase(SqliteConfig config) : config_(std::move(config)) {}

std::string SqliteDatabase::name() const {
  return "sqlite " + config_.path;
}

std::span<const sql::Migration> SqliteDatabase::migrations() const {
  return sqlite_migrations();
}

std::unique_ptr<sql::Session> SqliteDatabase::connect() {
  return std::make_unique<SqliteSession>(config_.path, config_.busy_timeout);
}

std::unique_ptr<sql::Session> SqliteDatabase::empty_instead() {
  const std::filesystem::path file(config_.path);
  std::error_code ignored;
  const bool folder = !file.has_parent_path() || std::filesystem::is_directory(file.parent_path(), ignored);
  if (!folder || std::filesystem::exists(file, ignored)) return nullptr;
  return std::make_unique<SqliteSession>();
}

std::optional<sql::Table> SqliteDatabase::describe(sql::Session& session, const std::string& table) {
  return sqlite::describe(session, table);
}

std::unique_ptr<sql::RowLoader> SqliteDatabase::loader(sql::Session& session, const sql::LoadPlan& plan) {
  return std::make_unique<SqliteLoader>(dynamic_cast<SqliteSession&>(session), plan);
}

}  // namespace sluice::sqlite
