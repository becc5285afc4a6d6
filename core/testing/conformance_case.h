// What the tests of the conformance suite share. Internal to the suite.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "core/api/sink.h"
#include "core/model/batch.h"
#include "core/model/error.h"
#include "core/testing/sink_under_test.h"

namespace sluice::testing {

enum class Needs { nothing, several_writers, ended_sessions };

struct ConformanceTest {
  const char* name;
  void (*run)(SinkUnderTest& sut);
  Needs needs = Needs::nothing;
};

// Registers a test of a suite. Where `missing` says what there is no server for, it is skipped, or fails with
// SLUICE_REQUIRE_SERVICES=1.
void register_test(const std::string& suite, const char* name, const std::string& missing, std::function<void()> body);

std::span<const ConformanceTest> claim_tests();
std::span<const ConformanceTest> epoch_tests();
std::span<const ConformanceTest> fencing_tests();
std::span<const ConformanceTest> isolating_tests();
std::span<const ConformanceTest> value_tests();

// The table of most tests: events(id, note).
const std::string events = "events";
enum class Keyed { no, yes };
TestTable events_table(Keyed keyed = Keyed::no);

// A new table of events, and a sink for it.
std::unique_ptr<Sink> open_events(SinkUnderTest& sut, Keyed keyed = Keyed::no, bool upsert = false);
// Another process's sink for the same table.
std::unique_ptr<Sink> open_again(SinkUnderTest& sut, Keyed keyed = Keyed::no, bool upsert = false);

inline Split split(std::int32_t partition, const std::string& topic = events) {
  return {topic, partition};
}

// Rows (id, note) for the ids [first, last), each with its id as offset.
Batch event_rows(std::int64_t first, std::int64_t last, const std::string& note = "n");
void add_event(Batch& batch, std::int64_t id, const std::string& note);
// The positions of known().
Positions known_positions(SinkWriter& writer, const std::vector<Split>& splits);

// None of the rows may be rejected.
void write_all(SinkWriter& writer, const std::string& topic, const Batch& batch, WriteMode mode);
void write_events(SinkWriter& writer, std::int64_t first, std::int64_t last, WriteMode mode = WriteMode::streaming);

// Moves every split of `to` from where its claim is.
Cut cut_of(std::uint64_t epoch, const Claims& claims, const Positions& to);
// commit() of that cut; the claims then say what the ledger does.
void commit_to(SinkWriter& writer, std::uint64_t epoch, Claims& claims, const Positions& to);

// The ids in the table of events as an outside reader sees them, every one as often as it is there.
std::multiset<std::int64_t> visible_ids(SinkUnderTest& sut, Keyed keyed = Keyed::no);
std::multiset<std::int64_t> ids(std::int64_t first, std::int64_t last);

// The Error that `action` throws; nothing: it throws none.
std::optional<Error> error_of(const std::function<void()>& action);
// Fails the test unless `action` throws an Error of this fault.
void expect_fault(Fault fault, const std::function<void()>& action);

}  // namespace sluice::testing
