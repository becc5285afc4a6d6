// Taking splits over and handing them back.
#include <array>

#include "core/testing/conformance_case.h"

namespace sluice::testing {

namespace {

void nothing_is_known_of_new_splits(SinkUnderTest& sut) {
  const auto sink = open_events(sut);
  const auto writer = sink->open_writer(0);
  EXPECT_EQ(known_positions(*writer, {split(0), split(1)}), Positions{});
  EXPECT_EQ(sink->positions(), Positions{});
}

void an_unknown_split_starts_where_it_is_told_and_that_is_durable(SinkUnderTest& sut) {
  const auto sink = open_events(sut);
  {
    const auto writer = sink->open_writer(0);
    const Claims claims = writer->take_over({{split(0), 17}, {split(1), 0}}, {}, {});
    EXPECT_EQ(claims, (Claims{{split(0), {17, Generation{1}, Epoch{0}}}, {split(1), {0, Generation{1}, Epoch{0}}}}));
  }
  const auto later = open_again(sut);
  EXPECT_EQ(known_positions(*later->open_writer(0), {split(0), split(1), split(2)}),
            (Positions{{split(0), 17}, {split(1), 0}}));
  EXPECT_EQ(later->positions(), (Positions{{split(0), 17}, {split(1), 0}}));
}

void a_known_split_goes_on_where_the_ledger_says(SinkUnderTest& sut) {
  const auto sink = open_events(sut);
  const auto writer = sink->open_writer(0);
  Claims claims = writer->take_over({{split(0), 5}}, {}, {});
  commit_to(*writer, 9, claims, {{split(0), 8}});
  EXPECT_EQ(writer->take_over({{split(0), 0}}, {}, {}).at(split(0)), (Claim{8, Generation{2}, Epoch{9}}));
  EXPECT_EQ(known_positions(*writer, {split(0)}), (Positions{{split(0), 8}}));
}

void the_generation_grows_by_one_with_each_take_over(SinkUnderTest& sut) {
  const auto sink = open_events(sut);
  for (std::uint64_t generation = 1; generation <= 5; ++generation) {
    const auto writer = sink->open_writer(0);
    EXPECT_EQ(number(writer->take_over({{split(0), 0}}, {}, {}).at(split(0)).generation), generation);
  }
  // Only of those that were asked for.
  const auto writer = sink->open_writer(0);
  EXPECT_EQ(number(writer->take_over({{split(1), 0}}, {}, {}).at(split(1)).generation), 1U);
  EXPECT_EQ(number(writer->take_over({{split(0), 0}, {split(1), 0}}, {}, {}).at(split(1)).generation), 2U);
}

// A process that slept between the two: whoever took the split meanwhile is not to be fenced by it.
void a_split_that_was_taken_since_it_was_looked_at_is_left_alone(SinkUnderTest& sut) {
  const auto sink = open_events(sut);
  for (const std::int32_t partition : {0, 0, 1}) {  // unknown at first, then known
    const auto sleeper = sink->open_writer(0);
    sleeper->known({split(partition)});
    Claims heirs;
    {
      const auto other = open_again(sut);
      const auto heir = other->open_writer(1);
      heir->known({split(partition)});
      heirs = heir->take_over({{split(partition), 5}}, {}, {});
    }
    expect_fault(Fault::retryable, [&] { sleeper->take_over({{split(partition), 0}}, {}, {}); });
    const auto awake = sink->open_writer(0);
    EXPECT_EQ(awake->known({split(partition)}).at(split(partition)).generation, heirs.at(split(partition)).generation);
    EXPECT_EQ(awake->take_over({{split(partition), 0}}, {}, {}).at(split(partition)).position, 5);
  }
}

void knowing_and_taking_over_nothing_is_nothing(SinkUnderTest& sut) {
  const auto sink = open_events(sut);
  const auto writer = sink->open_writer(0);
  EXPECT_EQ(known_positions(*writer, {}), Positions{});
  EXPECT_EQ(writer->take_over({}, {}, {}), Claims{});
  writer->release({});
  EXPECT_EQ(sink->positions(), Positions{});
}

void knowing_changes_nothing(SinkUnderTest& sut) {
  const auto sink = open_events(sut);
  const auto writer = sink->open_writer(0);
  Claims claims = writer->take_over({{split(0), 3}}, {}, {});
  EXPECT_EQ(known_positions(*sink->open_writer(1), {split(0), split(1)}), (Positions{{split(0), 3}}));
  write_events(*writer, 0, 1);
  commit_to(*writer, 1, claims, {{split(0), 4}});
  EXPECT_EQ(visible_ids(sut), ids(0, 1));
}

void held_claims_that_still_hold_are_raised(SinkUnderTest& sut) {
  const auto sink = open_events(sut);
  Claims held = sink->open_writer(0)->take_over({{split(0), 0}, {split(1), 0}}, {}, {});
  const auto writer = sink->open_writer(0);
  const Claims claims = writer->take_over({{split(0), 0}, {split(1), 0}, {split(2), 0}}, held, {});
  EXPECT_EQ(number(claims.at(split(0)).generation), 2U);
  EXPECT_EQ(number(claims.at(split(1)).generation), 2U);
  EXPECT_EQ(number(claims.at(split(2)).generation), 1U);
  // What is held but not taken over again does not matter.
  EXPECT_EQ(number(writer->take_over({{split(3), 0}}, claims, {}).at(split(3)).generation), 1U);
}

void splits_of_other_jobs_and_sinks_are_untouched(SinkUnderTest& sut) {
  const auto sink = open_events(sut);
  TestJob other_job;
  other_job.job = "another";
  TestJob other_sink;
  other_sink.sink = "second";
  std::vector<std::unique_ptr<Sink>> others;
  for (const auto& job : {other_job, other_sink}) {
    others.push_back(sut.open(job));
    EXPECT_EQ(others.back()->positions(), Positions{});
    others.back()->open_writer(0)->take_over({{split(0), 100}}, {}, {});
  }
  const auto writer = sink->open_writer(0);
  Claims claims = writer->take_over({{split(0), 0}}, {}, {});
  EXPECT_EQ(claims.at(split(0)), (Claim{0, Generation{1}, Epoch{0}}));
  write_events(*writer, 0, 10);
  commit_to(*writer, 1, claims, {{split(0), 10}});
  writer->release(claims);
  for (const auto& other : others) {
    EXPECT_EQ(other->positions(), (Positions{{split(0), 100}}));
    EXPECT_EQ(number(other->open_writer(0)->take_over({{split(0), 0}}, {}, {}).at(split(0)).generation), 2U);
  }
  EXPECT_EQ(sink->positions(), (Positions{{split(0), 10}}));
}

void fifty_splits_move_in_one_cut(SinkUnderTest& sut) {
  const auto sink = open_events(sut);
  const auto writer = sink->open_writer(0);
  Positions starts;
  Positions ends;
  for (std::int32_t partition = 0; partition < 50; ++partition) {
    starts.emplace(split(partition), partition);
    ends.emplace(split(partition), 1000 + partition);
  }
  Claims claims = writer->take_over(starts, {}, {});
  EXPECT_EQ(claims.size(), 50U);
  write_events(*writer, 0, 50);
  commit_to(*writer, 1, claims, ends);
  EXPECT_EQ(sink->positions(), ends);
  EXPECT_EQ(visible_ids(sut), ids(0, 50));
  writer->release(claims);
  EXPECT_EQ(sink->open_writer(0)->take_over(starts, {}, {}).at(split(49)), (Claim{1049, Generation{2}, Epoch{1}}));
}

// A ledger that compared names as its database likes to would take one of these for another.
void topics_keep_their_names_exactly(SinkUnderTest& sut) {
  sut.create_table(events_table());
  TestJob job;
  job.table = events;
  const auto sink = sut.open(job);
  const std::array<std::string, 13> topics{"orders",  "ORDERS",   "orders ",    "or.ders.v1",  "or\"ders",
                                           "or'ders", "\"",       "'; DROP --", "ünï-Ωκ-日本", "un\xcc\x88i",
                                           "uni",     "100%_\\x", "$1 ?1 :a @b"};
  const auto writer = sink->open_writer(0);
  Positions starts;
  Positions ends;
  for (const auto& topic : topics) {
    sink->bind(topic, {});
    starts.emplace(split(0, topic), 0);
    ends.emplace(split(0, topic), 10 + static_cast<std::int64_t>(ends.size()));
  }
  Claims claims = writer->take_over(starts, {}, {});
  std::int64_t id = 0;
  for (const auto& topic : topics) {
    write_all(*writer, topic, event_rows(id, id + 1), WriteMode::streaming);
    ++id;
  }
  commit_to(*writer, 1, claims, ends);
  EXPECT_EQ(sink->positions(), ends);
  EXPECT_EQ(visible_ids(sut), ids(0, id));
  std::vector<Split> one{split(0, "ORDERS")};
  EXPECT_EQ(known_positions(*writer, one), (Positions{{one.front(), ends.at(one.front())}}));
}

constexpr std::array tests{
    ConformanceTest{"NothingIsKnownOfNewSplits", nothing_is_known_of_new_splits},
    ConformanceTest{"AnUnknownSplitStartsWhereItIsToldAndThatIsDurable",
                    an_unknown_split_starts_where_it_is_told_and_that_is_durable},
    ConformanceTest{"AKnownSplitGoesOnWhereTheLedgerSays", a_known_split_goes_on_where_the_ledger_says},
    ConformanceTest{"TheGenerationGrowsByOneWithEachTakeOver", the_generation_grows_by_one_with_each_take_over},
    ConformanceTest{"KnowingAndTakingOverNothingIsNothing", knowing_and_taking_over_nothing_is_nothing},
    ConformanceTest{"ASplitThatWasTakenSinceItWasLookedAtIsLeftAlone",
                    a_split_that_was_taken_since_it_was_looked_at_is_left_alone},
    ConformanceTest{"KnowingChangesNothing", knowing_changes_nothing},
    ConformanceTest{"HeldClaimsThatStillHoldAreRaised", held_claims_that_still_hold_are_raised},
    ConformanceTest{"SplitsOfOtherJobsAndSinksAreUntouched", splits_of_other_jobs_and_sinks_are_untouched},
    ConformanceTest{"FiftySplitsMoveInOneCut", fifty_splits_move_in_one_cut},
    ConformanceTest{"TopicsKeepTheirNamesExactly", topics_keep_their_names_exactly},
};

}  // namespace

std::span<const ConformanceTest> claim_tests() {
  return tests;
}

}  // namespace sluice::testing
