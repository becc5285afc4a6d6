#include "sinks/sql/sql_writer.h"

#include <utility>

#include "core/model/error.h"
#include "core/model/fault_point.h"
#include "sinks/sql/owner.h"

namespace sluice::sql {

SqlWriter::SqlWriter(Database& database, const Ledger& ledger,
                     std::function<const LoadPlan&(const std::string& topic)> plan_of)
    : database_(database),
      ledger_(ledger),
      plan_of_(std::move(plan_of)),
      session_(database.connect()),
      owner_(Owner::of_this_process(session_->id()).text()) {}

SqlWriter::~SqlWriter() {
  abort();
}

Positions SqlWriter::known(const std::vector<Split>& splits) {
  Positions positions;
  for (const auto& [split, entry] : ledger_.read(*session_, &splits)) positions.emplace(split, entry.claim.position);
  return positions;
}

Claims SqlWriter::take_over(const Positions& starts, const Claims& held) {
  return ledger_.take_over(*session_, owner_, starts, held);
}

void SqlWriter::open_epoch() {
  if (open_) return;
  session_->begin();
  open_ = true;
  fault_point("sink.after_begin");
}

void SqlWriter::write(const std::string& topic, const Batch& batch, WriteMode mode) {
  const bool first = !open_;
  open_epoch();
  RowLoader& to = loader(topic);
  if (mode == WriteMode::isolating) {
    to.finish();  // what was streamed before: no savepoint can be set while a stream is open
    write_isolated(to, batch, 0, batch.rows());
  } else {
    to.add(batch, 0, batch.rows());
  }
  if (first) fault_point("sink.after_first_write");
}

RowLoader& SqlWriter::loader(const std::string& topic) {
  auto& loader = loaders_[topic];
  if (!loader) loader = database_.loader(*session_, plan_of_(topic));
  if (streaming_ != nullptr && streaming_ != loader.get()) streaming_->finish();
  streaming_ = loader.get();
  return *loader;
}

// Halves what the server refuses until one row is left. A row that is fine costs one statement in a run of its own
// kind, so one bad row of n costs about 2 log2(n) statements more.
void SqlWriter::write_isolated(RowLoader& to, const Batch& batch, std::size_t first, std::size_t last) {
  session_->execute("SAVEPOINT sluice_rows");
  try {
    to.add(batch, first, last);
    to.finish();
    session_->execute("RELEASE SAVEPOINT sluice_rows");
    return;
  } catch (const BadRecord&) {
    throw;
  } catch (const Error& error) {
    if (error.fault() != Fault::bad_record) throw;
    if (last - first == 1) throw BadRecord(batch.origin(first), "", error.what(), error.code());
    session_->execute("ROLLBACK TO SAVEPOINT sluice_rows");
  }
  const std::size_t middle = first + (last - first) / 2;
  write_isolated(to, batch, first, middle);
  write_isolated(to, batch, middle, last);
}

void SqlWriter::commit(const Cut& cut) {
  open_epoch();  // an epoch of holes only: the ledger moves alone
  if (streaming_ != nullptr) streaming_->finish();
  streaming_ = nullptr;
  if (!ledger_.move(*session_, cut)) {
    abort();
    throw ledger_.explain_miss(*session_, cut);
  }
  session_->commit();
  open_ = false;
  fault_point("sink.after_commit");
}

void SqlWriter::abort() noexcept {
  streaming_ = nullptr;
  loaders_.clear();
  if (open_) session_->rollback();
  open_ = false;
}

void SqlWriter::release(const Claims& claims) {
  ledger_.release(*session_, claims);
}

}  // namespace sluice::sql
