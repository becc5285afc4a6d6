#include "sinks/sql/dead_letters.h"

#include <algorithm>
#include <utility>

#include "sinks/sql/letter_text.h"

namespace sluice::sql {

namespace {

// Every database takes as many placeholders as these letters need.
constexpr std::size_t letters_per_statement = 100;
// MySQL gets them as text, two digits for a byte, and may take no more than a megabyte in a statement.
constexpr std::size_t bytes_per_statement = std::size_t{256} << 10;

std::size_t bytes_of(const DeadLetter& letter) {
  std::size_t bytes = letter.message.size();
  bytes += letter.key ? letter.key->size() : 0;
  bytes += letter.value ? letter.value->size() : 0;
  for (const auto& [name, value] : letter.headers) bytes += name.size() + value.size();
  return bytes;
}

// One at least.
std::size_t fit_into_a_statement(std::span<const DeadLetter> letters) {
  std::size_t count = 0;
  for (std::size_t bytes = 0; count < std::min(letters.size(), letters_per_statement); ++count) {
    bytes += bytes_of(letters[count]);
    if (count > 0 && bytes > bytes_per_statement) break;
  }
  return count;
}

std::int64_t integer(const std::optional<std::string>& cell, std::int64_t otherwise) {
  return cell ? std::stoll(*cell) : otherwise;
}

std::optional<std::string> bytes(const std::optional<std::string>& hex) {
  return hex ? from_hex(*hex) : std::nullopt;
}

Value bytes_or_null(const std::optional<std::string>& bytes) {
  return bytes ? Value(Bytes{*bytes}) : Value(Null{});
}

StoredLetter letter_from(const Row& row) {
  StoredLetter stored;
  DeadLetter& letter = stored.letter;
  letter.split = {row[0].value_or(""), static_cast<std::int32_t>(integer(row[1], 0))};
  letter.offset = integer(row[2], 0);
  letter.timestamp_ms = integer(row[3], -1);
  letter.key = bytes(row[4]);
  letter.value = bytes(row[5]);
  letter.headers = parse_headers(row[6].value_or(""));
  letter.of = row[7] == to_string(RejectClass::constraint) ? RejectClass::constraint : RejectClass::data;
  letter.code = row[8].value_or("");
  letter.message = row[9].value_or("");
  letter.epoch = Epoch{static_cast<std::uint64_t>(integer(row[10], 0))};
  stored.created_at = row[11].value_or("");
  return stored;
}

}  // namespace

DeadLetters::DeadLetters(const Dialect& dialect, std::string job, std::string sink)
    : dialect_(dialect), job_(std::move(job)), sink_(std::move(sink)) {}

void DeadLetters::add_where_job(Statement& sql) const {
  sql << " WHERE job = ";
  sql.bind(job_) << " AND sink = ";
  sql.bind(sink_);
}

void DeadLetters::put(Session& session, std::span<const DeadLetter> letters) const {
  while (!letters.empty()) {
    const auto some = letters.first(fit_into_a_statement(letters));
    remove_some(session, some);
    insert(session, some);
    letters = letters.subspan(some.size());
  }
}

void DeadLetters::insert(Session& session, std::span<const DeadLetter> letters) const {
  std::vector<std::string> headers;  // bound by reference
  for (const DeadLetter& letter : letters) headers.push_back(headers_json(letter.headers));
  Statement sql = statement();
  sql << "INSERT INTO sluice_dead_letters (job, sink, topic, ";
  sql.name("partition") << ", record_offset, record_timestamp, record_key, record_value, record_headers, error_class, "
                           "error_code, error_message, epoch, created_at) VALUES ";
  for (std::size_t i = 0; i < letters.size(); ++i) {
    const DeadLetter& letter = letters[i];
    sql << (i == 0 ? "(" : ", (");
    sql.bind(job_) << ", ";
    sql.bind(sink_) << ", ";
    sql.bind(letter.split.topic) << ", " << std::int64_t{letter.split.partition} << ", " << letter.offset << ", ";
    letter.timestamp_ms < 0 ? sql << "NULL" : sql << letter.timestamp_ms;
    sql << ", ";
    sql.bind_value(bytes_or_null(letter.key)) << ", ";
    sql.bind_value(bytes_or_null(letter.value)) << ", ";
    letter.headers.empty() ? sql << "NULL" : sql.bind(headers[i]);
    sql << ", ";
    sql.bind(to_string(letter.of)) << ", ";
    letter.code.empty() ? sql << "NULL" : sql.bind(letter.code);
    sql << ", ";
    sql.bind(letter.message) << ", " << static_cast<std::int64_t>(number(letter.epoch)) << ", " << dialect_.now()
                             << ")";
  }
  sql.execute(session);
}

std::uint64_t DeadLetters::remove(Session& session, std::span<const DeadLetter> letters) const {
  std::uint64_t removed = 0;
  while (!letters.empty()) {
    const auto some = letters.first(std::min(letters.size(), letters_per_statement));
    removed += remove_some(session, some);
    letters = letters.subspan(some.size());
  }
  return removed;
}

std::uint64_t DeadLetters::remove_some(Session& session, std::span<const DeadLetter> letters) const {
  Statement sql = statement();
  sql << "DELETE FROM sluice_dead_letters";
  add_where_job(sql);
  const char* separator = " AND (";
  for (std::size_t first = 0; first < letters.size();) {
    const Split& split = letters[first].split;
    sql << separator << "(topic = ";
    sql.bind(split.topic) << " AND ";
    sql.name("partition") << " = " << std::int64_t{split.partition} << " AND record_offset IN (";
    std::size_t next = first;
    for (; next < letters.size() && letters[next].split == split; ++next) {
      sql << (next == first ? "" : ", ") << letters[next].offset;
    }
    sql << "))";
    separator = " OR ";
    first = next;
  }
  sql << ")";
  return sql.execute(session);
}

std::uint64_t DeadLetters::remove_all(Session& session) const {
  Statement sql = statement();
  sql << "DELETE FROM sluice_dead_letters";
  add_where_job(sql);
  return sql.execute(session);
}

std::uint64_t DeadLetters::count_from(Session& session, const Split& split, std::int64_t offset) const {
  Statement sql = statement();
  sql << "SELECT count(*) FROM sluice_dead_letters";
  add_where_job(sql);
  sql << " AND topic = ";
  sql.bind(split.topic) << " AND ";
  sql.name("partition") << " = " << std::int64_t{split.partition} << " AND record_offset >= " << offset;
  return static_cast<std::uint64_t>(integer(sql.query(session).at(0).at(0), 0));
}

void DeadLetters::renew(Session& session, std::span<const DeadLetter> letters) const {
  for (const DeadLetter& letter : letters) {
    Statement sql = statement();
    sql << "UPDATE sluice_dead_letters SET error_class = ";
    sql.bind(to_string(letter.of)) << ", error_code = ";
    letter.code.empty() ? sql << "NULL" : sql.bind(letter.code);
    sql << ", error_message = ";
    sql.bind(letter.message);
    add_where_job(sql);
    sql << " AND topic = ";
    sql.bind(letter.split.topic) << " AND ";
    sql.name("partition") << " = " << std::int64_t{letter.split.partition} << " AND record_offset = " << letter.offset;
    sql.execute(session);
  }
}

std::vector<StoredLetter> DeadLetters::read(Session& session, std::size_t count, const DeadLetter* after) const {
  Statement sql = statement();
  sql << "SELECT topic, ";
  sql.name("partition") << ", record_offset, record_timestamp, " << dialect_.hex("record_key") << ", "
                        << dialect_.hex("record_value")
                        << ", record_headers, error_class, error_code, error_message, epoch, created_at "
                           "FROM sluice_dead_letters";
  add_where_job(sql);
  if (after != nullptr) {
    sql << " AND (topic, ";
    sql.name("partition") << ", record_offset) > (";
    sql.bind(after->split.topic) << ", " << std::int64_t{after->split.partition} << ", " << after->offset << ")";
  }
  sql << " ORDER BY topic, ";
  sql.name("partition") << ", record_offset LIMIT " << static_cast<std::int64_t>(count);
  std::vector<StoredLetter> letters;
  for (const Row& row : sql.query(session)) letters.push_back(letter_from(row));
  return letters;
}

std::uint64_t DeadLetters::count(Session& session) const {
  Statement sql = statement();
  sql << "SELECT count(*) FROM sluice_dead_letters";
  add_where_job(sql);
  return static_cast<std::uint64_t>(integer(sql.query(session).at(0).at(0), 0));
}

}  // namespace sluice::sql
