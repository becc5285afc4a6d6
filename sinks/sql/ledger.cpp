#include "sinks/sql/ledger.h"

#include <algorithm>
#include <set>
#include <utility>

#include "core/model/error.h"
#include "core/model/fault_point.h"
#include "sinks/sql/owner.h"

namespace sluice::sql {

namespace {

std::int64_t integer(const std::optional<std::string>& cell) {
  return std::stoll(cell.value_or("0"));
}

std::int64_t signed_number(Generation generation) {
  return static_cast<std::int64_t>(number(generation));
}

std::vector<Split> splits_of(const Positions& positions) {
  std::vector<Split> splits;
  for (const auto& [split, position] : positions) splits.push_back(split);
  return splits;
}

// This process may have slept since the group gave it the split: the other one is not to be fenced by that.
Error taken_meanwhile(const Split& split) {
  return Error(Fault::retryable, to_string(split) +
                                     " was taken over by another process of this job while this one was about to "
                                     "take it over; nothing was taken, and the source is asked again");
}

std::string who(const LedgerEntry& entry) {
  if (entry.owner == moved_by_hand) return "`sluice offsets`, which moved the position";
  return entry.owner.value_or("which has released it since");
}

}  // namespace

Ledger::Ledger(const Dialect& dialect, std::string job, std::string sink)
    : dialect_(dialect), job_(std::move(job)), sink_(std::move(sink)) {}

void Ledger::add_where_job(Statement& sql) const {
  sql << " WHERE job = ";
  sql.bind(job_) << " AND sink = ";
  sql.bind(sink_);
}

void Ledger::add_split(Statement& sql, const Split& split) const {
  sql << "topic = ";
  sql.bind(split.topic) << " AND ";
  sql.name("partition") << " = " << std::int64_t{split.partition};
}

void Ledger::add_one_of(Statement& sql, const std::vector<Split>& splits) const {
  sql << " AND (";
  for (const Split& split : splits) {
    sql << (&split == &splits.front() ? "(" : " OR (");
    add_split(sql, split);
    sql << ")";
  }
  sql << ")";
}

std::map<Split, LedgerEntry> Ledger::read(Session& session, const std::vector<Split>* splits) const {
  if (splits != nullptr && splits->empty()) return {};
  Statement sql = statement();
  sql << "SELECT topic, ";
  sql.name("partition") << ", next_offset, epoch, generation, owner, updated_at, topic_id FROM sluice_ledger";
  add_where_job(sql);
  if (splits != nullptr) add_one_of(sql, *splits);
  std::map<Split, LedgerEntry> entries;
  for (const Row& row : sql.query(session)) {
    const Split split{row[0].value_or(""), static_cast<std::int32_t>(integer(row[1]))};
    const Claim claim{integer(row[2]), Generation{static_cast<std::uint64_t>(integer(row[4]))},
                      Epoch{static_cast<std::uint64_t>(integer(row[3]))}};
    entries.emplace(split, LedgerEntry{claim, row[5], row[7].value_or(""), row[6].value_or("")});
  }
  return entries;
}

Known known_from(const LedgerEntry& entry) {
  Known known{entry.claim.position, entry.claim.generation, entry.claim.epoch, {}};
  if (!entry.topic_id.empty()) known.topic_ids.insert(entry.topic_id);
  known.moved_by_hand = entry.owner == moved_by_hand;
  return known;
}

Claims Ledger::take_over(Session& session, const std::string& owner, const Positions& starts, const Claims& held,
                         const std::map<Split, Generation>& seen, const TopicIds& topics) const {
  const std::vector<Split> splits = splits_of(starts);
  if (splits.empty()) return {};
  const std::string this_run = Owner::parse(owner).run;
  const auto before = read(session, &splits);
  std::set<std::string> left_behind;
  for (const auto& [split, entry] : before) {
    const auto then = seen.find(split);
    const bool moved_since = then != seen.end() && then->second != entry.claim.generation;
    if (moved_since && !held.contains(split)) throw taken_meanwhile(split);
    if (entry.owner && *entry.owner != owner) left_behind.insert(Owner::parse(*entry.owner).session);
    const auto mine = held.find(split);
    if (mine == held.end() || entry.claim.generation == mine->second.generation) continue;
    // Our own take-over, whose answer was lost.
    if (entry.owner && Owner::parse(*entry.owner).run == this_run) continue;
    throw Error(Fault::fenced, to_string(split) + " was taken over by another process of this job (" + who(entry) +
                                   "): this one must stop. Nothing of its open epoch was written");
  }
  fault_point("sink.before_take_over");
  // A stopped process holds the locks of its rows, and its commit may still be on its way: the server ends it for us.
  for (const auto& id : left_behind) session.end_session(id);

  session.begin();
  add_missing(session, starts);
  claim_rows(session, owner, splits, topics);
  const auto after = read(session, &splits);
  for (const Split& split : splits) {
    const auto then = before.find(split);
    const auto now = after.find(split);
    const std::uint64_t expected = then == before.end() ? 1 : number(then->second.claim.generation) + 1;
    if (now != after.end() && number(now->second.claim.generation) == expected) continue;
    session.rollback();
    if (held.contains(split)) {
      throw Error(Fault::fenced, to_string(split) +
                                     " was taken over by another process of this job while this one was "
                                     "about to take it over again: this one must stop");
    }
    throw taken_meanwhile(split);
  }
  session.commit();
  fault_point("sink.after_take_over");
  Claims claims;
  for (const auto& [split, entry] : after) claims.emplace(split, entry.claim);
  return claims;
}

void Ledger::end_owners(Session& session, const std::string& owner, const std::vector<Split>& splits) const {
  std::set<std::string> left_behind;
  for (const auto& [split, entry] : read(session, &splits)) {
    if (entry.owner && *entry.owner != owner) left_behind.insert(Owner::parse(*entry.owner).session);
  }
  for (const auto& id : left_behind) session.end_session(id);
}

std::map<Split, LedgerEntry> Ledger::begin_at(Session& session, const Positions& starts, const TopicIds& topics) const {
  add_missing(session, starts, true, topics);
  const std::vector<Split> splits = splits_of(starts);
  return read(session, &splits);
}

void Ledger::add_missing(Session& session, const Positions& starts, bool by_hand, const TopicIds& topics) const {
  Statement insert = statement();
  insert << "INSERT INTO sluice_ledger (job, sink, topic, ";
  insert.name("partition") << ", next_offset, epoch, generation, owner, topic_id, updated_at) VALUES ";
  const char* separator = "(";
  for (const auto& [split, position] : starts) {
    insert << separator;
    insert.bind(job_) << ", ";
    insert.bind(sink_) << ", ";
    insert.bind(split.topic) << ", " << std::int64_t{split.partition} << ", " << position << ", 0, 0, ";
    if (by_hand) insert.bind(moved_by_hand);
    insert << (by_hand ? ", " : "NULL, ");
    const auto topic = topics.find(split.topic);
    if (topic != topics.end()) insert.bind(topic->second);
    insert << (topic != topics.end() ? ", " : "NULL, ") << dialect_.now() << ")";
    separator = ", (";
  }
  insert << " " << dialect_.unless_present();
  insert.execute(session);
}

void Ledger::claim_rows(Session& session, const std::string& owner, const std::vector<Split>& splits,
                        const TopicIds& topics) const {
  Statement update = statement();
  update << "UPDATE sluice_ledger SET generation = generation + 1, owner = ";
  update.bind(owner);
  if (!topics.empty()) {
    update << ", topic_id = CASE topic";
    for (const auto& [topic, id] : topics) {
      update << " WHEN ";
      update.bind(topic) << " THEN ";
      update.bind(id);
    }
    update << " ELSE topic_id END";
  }
  update << ", updated_at = " << dialect_.now();
  add_where_job(update);
  add_one_of(update, splits);
  update.execute(session);
}

void Ledger::set(Session& session, const Positions& to) const {
  const std::vector<Split> splits = splits_of(to);
  for (const auto& [split, entry] : read(session, &splits)) {
    if (entry.owner) session.end_session(Owner::parse(*entry.owner).session);
  }
  add_missing(session, to);
  Statement update = statement();
  update << "UPDATE sluice_ledger SET next_offset = CASE";
  for (const auto& [split, position] : to) {
    update << " WHEN ";
    add_split(update, split);
    update << " THEN " << position;
  }
  update << " END, generation = generation + 1, topic_id = NULL, owner = ";
  update.bind(moved_by_hand) << ", updated_at = " << dialect_.now();
  add_where_job(update);
  add_one_of(update, splits);
  update.execute(session);
}

bool Ledger::move(Session& session, const Cut& cut) const {
  fault_point("sink.before_ledger");
  Statement sql = statement();
  sql << "UPDATE sluice_ledger SET next_offset = CASE";
  for (const Move& move : cut.moves) {
    sql << " WHEN ";
    add_split(sql, move.split);
    sql << " THEN " << move.to;
  }
  sql << " END, epoch = " << static_cast<std::int64_t>(number(cut.epoch)) << ", updated_at = " << dialect_.now();
  add_where_job(sql);
  const char* separator = " AND ((";
  for (const Move& move : cut.moves) {
    sql << separator;
    add_split(sql, move.split);
    sql << " AND generation = " << signed_number(move.generation) << " AND next_offset = " << move.from << ")";
    separator = " OR (";
  }
  sql << ")";
  const bool all_moved = sql.execute(session) == cut.moves.size();
  if (all_moved) fault_point("sink.after_ledger");
  return all_moved;
}

void Ledger::release(Session& session, const Claims& claims) const {
  if (claims.empty()) return;
  Statement sql = statement();
  sql << "UPDATE sluice_ledger SET owner = NULL";
  add_where_job(sql);
  const char* separator = " AND ((";
  for (const auto& [split, claim] : claims) {
    sql << separator;
    add_split(sql, split);
    sql << " AND generation = " << signed_number(claim.generation) << ")";
    separator = " OR (";
  }
  sql << ")";
  session.begin();
  sql.execute(session);
  session.commit();
}

Error Ledger::explain_miss(Session& session, const Cut& cut) const {
  std::vector<Split> splits;
  for (const Move& move : cut.moves) splits.push_back(move.split);
  const auto now = read(session, &splits);
  for (const Move& move : cut.moves) {
    const auto entry = now.find(move.split);
    if (entry == now.end()) {
      return Error(Fault::fatal,
                   "the ledger's row of " + to_string(move.split) +
                       " is gone: somebody removed it while the job ran. The epoch was rolled back. Restore "
                       "the row, or start the job again to begin as its start mode says");
    }
    const Claim& claim = entry->second.claim;
    if (claim.generation != move.generation) {
      return Error(Fault::fenced, to_string(move.split) + " was taken over by another process of this job (" +
                                      who(entry->second) + ", generation " + std::to_string(number(claim.generation)) +
                                      " instead of " + std::to_string(number(move.generation)) +
                                      "): this one must stop. Its epoch was rolled back");
    }
    if (claim.position != move.from) {
      return Error(Fault::retryable, "the ledger's position of " + to_string(move.split) + " is " +
                                         std::to_string(claim.position) + ", not " + std::to_string(move.from) +
                                         " as this process left it. The epoch was rolled back");
    }
  }
  return Error(Fault::retryable,
               "the ledger did not move although it says what was expected; the epoch was rolled back");
}

}  // namespace sluice::sql
