#include "sinks/sql/two_phase.h"

#include <charconv>
#include <utility>

#include "sinks/sql/statement.h"

namespace sluice::sql {

namespace {

// Takes a number and the slash behind it, if `more`.
bool take_number(std::string_view& text, bool more, std::uint64_t& value) {
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  if (read.ec != std::errc()) return false;
  text.remove_prefix(static_cast<std::size_t>(read.ptr - text.data()));
  if (!more) return text.empty();
  if (!text.starts_with('/')) return false;
  text.remove_prefix(1);
  return true;
}

}  // namespace

std::string TransactionName::text(std::string_view prefix) const {
  return std::string(prefix) + std::to_string(task) + "/" + std::to_string(sluice::number(generation)) + "/" +
         std::to_string(number);
}

std::optional<TransactionName> TransactionName::parse(std::string_view prefix, std::string_view text) {
  if (!text.starts_with(prefix)) return std::nullopt;
  text.remove_prefix(prefix.size());
  TransactionName name;
  std::uint64_t task = 0;
  std::uint64_t generation = 0;
  if (!take_number(text, true, task) || !take_number(text, true, generation) ||
      !take_number(text, false, name.number)) {
    return std::nullopt;
  }
  name.task = static_cast<std::size_t>(task);
  name.generation = Generation{generation};
  return name;
}

// A slow starter that rolled back what a newer process has prepared would lose data that its checkpoint has decided:
// docs/model/prepared.pml finds it.
Settlement settlement(const TransactionName& found, bool decided, std::size_t task, Generation generation) {
  if (found.generation > generation) return Settlement::leave;
  if (found.generation == generation && found.task != task) return Settlement::leave;
  return decided ? Settlement::commit : Settlement::roll_back;
}

EpochRows::EpochRows(const Dialect& dialect, std::string job, std::string sink)
    : dialect_(dialect), job_(std::move(job)), sink_(std::move(sink)) {}

void EpochRows::put(Session& session, const TransactionName& name, const std::string& transaction) const {
  Statement remove(dialect_);
  remove << "DELETE FROM sluice_epochs WHERE job = ";
  remove.bind(job_) << " AND sink = ";
  remove.bind(sink_) << " AND task = " << static_cast<std::int64_t>(name.task);
  remove.execute(session);
  Statement insert(dialect_);
  insert << "INSERT INTO sluice_epochs (job, sink, task, generation, epoch, transaction_id, committed_at) VALUES (";
  insert.bind(job_) << ", ";
  insert.bind(sink_) << ", " << static_cast<std::int64_t>(name.task) << ", "
                     << static_cast<std::int64_t>(number(name.generation)) << ", "
                     << static_cast<std::int64_t>(name.number) << ", ";
  insert.bind(transaction) << ", " << dialect_.now() << ")";
  insert.execute(session);
}

bool EpochRows::holds(Session& session, const std::string& transaction) const {
  Statement sql(dialect_);
  sql << "SELECT 1 FROM sluice_epochs WHERE job = ";
  sql.bind(job_) << " AND sink = ";
  sql.bind(sink_) << " AND transaction_id = ";
  sql.bind(transaction);
  return !sql.query(session).empty();
}

}  // namespace sluice::sql
