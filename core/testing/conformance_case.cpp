#include "core/testing/conformance_case.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace sluice::testing {

namespace {

class RegisteredTest : public ::testing::Test {
 public:
  RegisteredTest(std::string missing, std::function<void()> body)
      : missing_(std::move(missing)), body_(std::move(body)) {}

  void TestBody() override {
    if (!missing_.empty()) {
      if (std::getenv("SLUICE_REQUIRE_SERVICES") != nullptr) FAIL() << missing_;
      GTEST_SKIP() << missing_;
    }
    body_();
  }

 private:
  std::string missing_;
  std::function<void()> body_;
};

}  // namespace

void register_test(const std::string& suite, const char* name, const std::string& missing, std::function<void()> body) {
  ::testing::RegisterTest(
      suite.c_str(), name, nullptr, nullptr, __FILE__, __LINE__,
      [missing, body = std::move(body)]() -> ::testing::Test* { return new RegisteredTest(missing, body); });
}

TestTable events_table(Keyed keyed) {
  TestTable table{events, {{"id", Kind::integer}, {"note", Kind::text}}, {}, std::nullopt};
  if (keyed == Keyed::yes) table.key = {"id"};
  return table;
}

std::unique_ptr<Sink> open_events(SinkUnderTest& sut, Keyed keyed, bool upsert) {
  sut.create_table(events_table(keyed));
  return open_again(sut, keyed, upsert);
}

std::unique_ptr<Sink> open_again(SinkUnderTest& sut, Keyed keyed, bool upsert) {
  TestJob job;
  job.upsert = upsert;
  job.key = events_table(keyed).key;
  auto sink = sut.open(job);
  sink->bind(events, {});
  return sink;
}

void add_event(Batch& batch, std::int64_t id, const std::string& note) {
  const auto cells = batch.append(RowKind::insert, {0, id});
  cells[0] = id;
  cells[1] = Text{batch.arena().copy(note)};
}

Batch event_rows(std::int64_t first, std::int64_t last, const std::string& note) {
  Batch batch(2);
  for (std::int64_t id = first; id < last; ++id) add_event(batch, id, note);
  return batch;
}

Positions known_positions(SinkWriter& writer, const std::vector<Split>& splits) {
  Positions positions;
  for (const auto& [split, known] : writer.known(splits)) positions.emplace(split, known.position);
  return positions;
}

void write_all(SinkWriter& writer, const std::string& topic, const Batch& batch, WriteMode mode) {
  std::vector<Reject> rejects;
  writer.write(topic, batch, mode, rejects);
  for (const Reject& reject : rejects) ADD_FAILURE() << "offset " << reject.origin.offset << ": " << reject.text();
}

void write_events(SinkWriter& writer, std::int64_t first, std::int64_t last, WriteMode mode) {
  write_all(writer, events, event_rows(first, last), mode);
}

Cut cut_of(std::uint64_t epoch, const Claims& claims, const Positions& to) {
  Cut cut{Epoch{epoch}, {}};
  for (const auto& [split, position] : to) {
    const Claim& claim = claims.at(split);
    cut.moves.push_back({split, claim.generation, claim.position, position});
  }
  return cut;
}

void commit_to(SinkWriter& writer, std::uint64_t epoch, Claims& claims, const Positions& to) {
  writer.commit(cut_of(epoch, claims, to));
  for (const auto& [split, position] : to) {
    claims.at(split).position = position;
    claims.at(split).epoch = Epoch{epoch};
  }
}

std::multiset<std::int64_t> visible_ids(SinkUnderTest& sut, Keyed keyed) {
  std::multiset<std::int64_t> found;
  for (const TestRow& row : sut.rows(events_table(keyed))) found.insert(std::stoll(row.at(0).value_or("-1")));
  return found;
}

std::multiset<std::int64_t> ids(std::int64_t first, std::int64_t last) {
  std::multiset<std::int64_t> all;
  for (std::int64_t id = first; id < last; ++id) all.insert(id);
  return all;
}

std::optional<Error> error_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error;
  }
  return std::nullopt;
}

void expect_fault(Fault fault, const std::function<void()>& action) {
  const auto error = error_of(action);
  ASSERT_TRUE(error.has_value()) << "no error, although " << to_string(fault) << " was expected";
  EXPECT_EQ(error->fault(), fault) << to_string(error->fault()) << ": " << error->what();
}

}  // namespace sluice::testing
