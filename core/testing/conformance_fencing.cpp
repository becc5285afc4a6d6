// Several writers that believe in the same split: the newest generation alone writes.
#include <algorithm>
#include <array>
#include <thread>

#include "core/testing/conformance_case.h"

namespace sluice::testing {

namespace {

void a_commit_of_an_older_generation_is_fenced(SinkUnderTest& sut) {
  const auto sink = open_events(sut);
  const auto old_owner = sink->open_writer(0);
  Claims old_claims = old_owner->take_over({{split(0), 0}}, {}, {});
  write_events(*old_owner, 0, 5);
  commit_to(*old_owner, 1, old_claims, {{split(0), 5}});
  old_owner->release(old_claims);  // so that nobody ends its session: the generation alone must stop it
  const auto new_owner = sink->open_writer(0);
  Claims claims = new_owner->take_over({{split(0), 0}}, {}, {});

  write_events(*old_owner, 5, 9);
  expect_fault(Fault::fenced, [&] { old_owner->commit(cut_of(2, old_claims, {{split(0), 9}})); });
  EXPECT_EQ(visible_ids(sut), ids(0, 5));
  EXPECT_EQ(sink->positions(), (Positions{{split(0), 5}}));

  write_events(*new_owner, 5, 12);
  commit_to(*new_owner, 2, claims, {{split(0), 12}});
  EXPECT_EQ(visible_ids(sut), ids(0, 12));
}

// The old owner's rows of one split must not pass because another split of its epoch is still its own.
void one_lost_split_fences_the_whole_epoch(SinkUnderTest& sut) {
  const auto sink = open_events(sut);
  const auto old_owner = sink->open_writer(0);
  Claims old_claims = old_owner->take_over({{split(0), 0}, {split(1), 0}}, {}, {});
  old_owner->release({{split(0), old_claims.at(split(0))}});
  old_owner->release({{split(1), old_claims.at(split(1))}});
  sink->open_writer(0)->take_over({{split(1), 0}}, {}, {});
  write_events(*old_owner, 0, 9);
  expect_fault(Fault::fenced, [&] { old_owner->commit(cut_of(1, old_claims, {{split(0), 4}, {split(1), 5}})); });
  EXPECT_EQ(visible_ids(sut), ids(0, 0));
  EXPECT_EQ(sink->positions(), (Positions{{split(0), 0}, {split(1), 0}}));
}

void a_generation_that_is_not_granted_yet_moves_nothing(SinkUnderTest& sut) {
  const auto sink = open_events(sut);
  const auto writer = sink->open_writer(0);
  Claims claims = writer->take_over({{split(0), 0}}, {}, {});
  claims.at(split(0)).generation = Generation{2};
  write_events(*writer, 0, 3);
  expect_fault(Fault::fenced, [&] { writer->commit(cut_of(1, claims, {{split(0), 3}})); });
  EXPECT_EQ(visible_ids(sut), ids(0, 0));
}

// A process that was paused wakes up: its session is gone or its generation is old, and when it asks again it learns
// that it must stop.
void a_held_claim_of_an_older_generation_is_fenced(SinkUnderTest& sut) {
  const auto sink = open_events(sut);
  const Claims held = sink->open_writer(0)->take_over({{split(0), 0}, {split(1), 0}}, {}, {});
  Claims claims = sink->open_writer(0)->take_over({{split(1), 0}}, {}, {});
  sut.disown_ledger();
  const auto writer = sink->open_writer(0);
  expect_fault(Fault::fenced, [&] { writer->take_over({{split(0), 0}, {split(1), 0}}, held, {}); });
  // The refusal took nothing away from anybody.
  const auto next = sink->open_writer(0);
  EXPECT_EQ(number(next->take_over({{split(0), 0}}, {}, {}).at(split(0)).generation), 2U);
  EXPECT_EQ(number(next->take_over({{split(1), 0}}, claims, {}).at(split(1)).generation), 3U);
}

void an_open_epoch_of_the_old_owner_does_not_block_the_new_one(SinkUnderTest& sut) {
  const auto sink = open_events(sut, Keyed::yes);
  const auto old_owner = sink->open_writer(0);
  Claims old_claims = old_owner->take_over({{split(0), 0}}, {}, {});
  write_events(*old_owner, 0, 100, WriteMode::isolating);  // its rows hold the keys on the server

  const auto other = open_again(sut, Keyed::yes);
  const auto new_owner = other->open_writer(0);
  Claims claims = new_owner->take_over({{split(0), 0}}, {}, {});
  EXPECT_EQ(claims.at(split(0)), (Claim{0, Generation{2}, Epoch{0}}));
  write_events(*new_owner, 0, 100);
  commit_to(*new_owner, 1, claims, {{split(0), 100}});
  EXPECT_EQ(visible_ids(sut, Keyed::yes), ids(0, 100));

  const auto late = error_of([&] {
    write_events(*old_owner, 100, 120);
    old_owner->commit(cut_of(1, old_claims, {{split(0), 120}}));
  });
  EXPECT_TRUE(late.has_value()) << "the old owner committed";
  EXPECT_EQ(visible_ids(sut, Keyed::yes), ids(0, 100));
  EXPECT_EQ(sink->positions(), (Positions{{split(0), 100}}));
}

void a_released_split_costs_nobody_a_session(SinkUnderTest& sut) {
  const auto sink = open_events(sut);
  const auto first = sink->open_writer(0);
  Claims claims = first->take_over({{split(0), 0}, {split(1), 0}}, {}, {});
  first->release({{split(1), claims.at(split(1))}});
  write_events(*first, 0, 10, WriteMode::isolating);
  const auto second = sink->open_writer(1);
  EXPECT_EQ(number(second->take_over({{split(1), 0}}, {}, {}).at(split(1)).generation), 2U);
  commit_to(*first, 1, claims, {{split(0), 10}});
  EXPECT_EQ(visible_ids(sut), ids(0, 10));
}

void a_late_release_does_not_speak_for_the_new_owner(SinkUnderTest& sut) {
  const auto sink = open_events(sut);
  const auto first = sink->open_writer(0);
  const Claims old_claims = first->take_over({{split(0), 0}}, {}, {});
  first->release(old_claims);
  const auto second = sink->open_writer(1);
  Claims claims = second->take_over({{split(0), 0}, {split(1), 0}}, {}, {});
  first->release(old_claims);  // of a generation that is over: the new owner stays named
  write_events(*second, 0, 5, WriteMode::isolating);
  sink->open_writer(2)->take_over({{split(0), 0}}, {}, {});
  // Its session was ended, and with it the epoch of the split that was still its own.
  EXPECT_TRUE(error_of([&] { second->commit(cut_of(1, claims, {{split(1), 5}})); }).has_value());
  EXPECT_EQ(visible_ids(sut), ids(0, 0));
}

// One of the fighters: takes the split over, writes the row of its position, again and again; another one does the
// same.
void fight(Sink& sink, std::int64_t until) {
  for (int attempt = 0; attempt < 5'000; ++attempt) {
    try {
      const auto writer = sink.open_writer(0);
      Claims claims = writer->take_over({{split(0), 0}}, {}, {});
      for (int epoch = 0; epoch < 3; ++epoch) {
        const Claim claim = claims.at(split(0));
        if (claim.position >= until) return;
        write_events(*writer, claim.position, claim.position + 1);
        commit_to(*writer, number(claim.epoch) + 1, claims, {{split(0), claim.position + 1}});
      }
    } catch (const Error& error) {
      ASSERT_TRUE(error.fault() == Fault::retryable || error.fault() == Fault::fenced ||
                  error.fault() == Fault::in_doubt)
          << to_string(error.fault()) << ": " << error.what();
    }
  }
  FAIL() << "no end of the fight in sight";
}

void writers_that_fight_lose_nothing_and_repeat_nothing(SinkUnderTest& sut) {
  const auto sink = open_events(sut);
  const auto other = open_again(sut);
  constexpr std::int64_t until = 40;
  std::thread rival([&] { fight(*other, until); });
  fight(*sink, until);
  rival.join();
  EXPECT_EQ(visible_ids(sut), ids(0, until));
  EXPECT_EQ(sink->positions(), (Positions{{split(0), until}}));
}

constexpr std::array tests{
    ConformanceTest{"ACommitOfAnOlderGenerationIsFenced", a_commit_of_an_older_generation_is_fenced},
    ConformanceTest{"OneLostSplitFencesTheWholeEpoch", one_lost_split_fences_the_whole_epoch},
    ConformanceTest{"AGenerationThatIsNotGrantedYetMovesNothing", a_generation_that_is_not_granted_yet_moves_nothing},
    ConformanceTest{"AHeldClaimOfAnOlderGenerationIsFenced", a_held_claim_of_an_older_generation_is_fenced},
    ConformanceTest{"AnOpenEpochOfTheOldOwnerDoesNotBlockTheNewOne",
                    an_open_epoch_of_the_old_owner_does_not_block_the_new_one, Needs::ended_sessions},
    ConformanceTest{"AReleasedSplitCostsNobodyASession", a_released_split_costs_nobody_a_session,
                    Needs::several_writers},
    ConformanceTest{"ALateReleaseDoesNotSpeakForTheNewOwner", a_late_release_does_not_speak_for_the_new_owner,
                    Needs::ended_sessions},
    ConformanceTest{"WritersThatFightLoseNothingAndRepeatNothing", writers_that_fight_lose_nothing_and_repeat_nothing},
};

}  // namespace

std::span<const ConformanceTest> fencing_tests() {
  return tests;
}

}  // namespace sluice::testing
