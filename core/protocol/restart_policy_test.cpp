#include "core/protocol/restart_policy.h"

#include <gtest/gtest.h>

#include <optional>
#include <vector>

namespace sluice {

namespace {

using std::chrono::milliseconds;
using Delays = std::vector<std::optional<milliseconds>>;

RestartPolicy::Time at(milliseconds since_start) {
  return RestartPolicy::Time(std::chrono::hours(1)) + since_start;
}

Delays fail(RestartPolicy& policy, int times, milliseconds apart = milliseconds(0)) {
  Delays delays;
  for (int time = 0; time < times; ++time) delays.push_back(policy.failed(at(apart * time)));
  return delays;
}

RestartSettings settings(RestartSettings::Strategy strategy) {
  RestartSettings settings;
  settings.strategy = strategy;
  settings.initial = milliseconds(500);
  settings.delay_max = milliseconds(3000);
  return settings;
}

TEST(RestartPolicy, NoneNeverStartsAgain) {
  RestartPolicy policy(settings(RestartSettings::Strategy::none));
  EXPECT_EQ(fail(policy, 1), Delays{std::nullopt});
}

TEST(RestartPolicy, ToleratedFailuresComeBeforeTheStrategy) {
  RestartSettings some = settings(RestartSettings::Strategy::none);
  some.tolerated = 2;
  RestartPolicy none(some);
  EXPECT_EQ(fail(none, 3), (Delays{milliseconds(500), milliseconds(500), std::nullopt}));
  none.succeeded();
  EXPECT_EQ(fail(none, 3), (Delays{milliseconds(500), milliseconds(500), std::nullopt})) << "those in a row count";

  some.strategy = RestartSettings::Strategy::exponential_delay;
  some.attempts = 2;
  RestartPolicy exponential(some);
  EXPECT_EQ(fail(exponential, 5),
            (Delays{milliseconds(500), milliseconds(500), milliseconds(500), milliseconds(1000), std::nullopt}));
}

TEST(RestartPolicy, FixedDelayStaysTheSame) {
  RestartPolicy policy(settings(RestartSettings::Strategy::fixed_delay));
  EXPECT_EQ(fail(policy, 100), Delays(100, milliseconds(500)));
}

TEST(RestartPolicy, FixedDelayEndsAfterItsAttempts) {
  RestartSettings chosen = settings(RestartSettings::Strategy::fixed_delay);
  chosen.attempts = 2;
  RestartPolicy policy(chosen);
  EXPECT_EQ(fail(policy, 3), (Delays{milliseconds(500), milliseconds(500), std::nullopt}));
  EXPECT_EQ(policy.failures_in_a_row(), 3U);
}

TEST(RestartPolicy, ExponentialDelayDoublesUpToItsMaximum) {
  RestartPolicy policy(settings(RestartSettings::Strategy::exponential_delay));
  EXPECT_EQ(fail(policy, 5), (Delays{milliseconds(500), milliseconds(1000), milliseconds(2000), milliseconds(3000),
                                     milliseconds(3000)}));
}

TEST(RestartPolicy, ExponentialDelayDoesNotOverflow) {
  RestartSettings chosen = settings(RestartSettings::Strategy::exponential_delay);
  chosen.initial = std::chrono::hours(24 * 3650);
  chosen.delay_max = std::chrono::hours(24 * 3650);
  RestartPolicy policy(chosen);
  EXPECT_EQ(fail(policy, 10'000), Delays(10'000, chosen.delay_max));
}

TEST(RestartPolicy, ExponentialDelayEndsAfterItsAttempts) {
  RestartSettings chosen = settings(RestartSettings::Strategy::exponential_delay);
  chosen.attempts = 1;
  RestartPolicy policy(chosen);
  EXPECT_EQ(fail(policy, 2), (Delays{milliseconds(500), std::nullopt}));
}

TEST(RestartPolicy, NoAttemptsMeansNone) {
  RestartSettings chosen = settings(RestartSettings::Strategy::exponential_delay);
  chosen.attempts = 0;
  RestartPolicy policy(chosen);
  EXPECT_EQ(fail(policy, 1), Delays{std::nullopt});
}

TEST(RestartPolicy, ACommittedEpochStartsTheCountAgain) {
  RestartSettings chosen = settings(RestartSettings::Strategy::exponential_delay);
  chosen.attempts = 2;
  RestartPolicy policy(chosen);
  fail(policy, 2);
  policy.succeeded();
  EXPECT_EQ(policy.failures_in_a_row(), 0U);
  EXPECT_EQ(fail(policy, 3), (Delays{milliseconds(500), milliseconds(1000), std::nullopt}));
}

TEST(RestartPolicy, FailureRateCountsWithinItsInterval) {
  RestartSettings chosen = settings(RestartSettings::Strategy::failure_rate);
  chosen.failures_max = 2;
  chosen.interval = milliseconds(1000);
  RestartPolicy seldom(chosen);
  EXPECT_EQ(fail(seldom, 50, milliseconds(501)), Delays(50, milliseconds(500)));
  RestartPolicy often(chosen);
  EXPECT_EQ(fail(often, 3, milliseconds(500)), (Delays{milliseconds(500), milliseconds(500), std::nullopt}))
      << "the third one comes within 1000 ms of the first";
}

TEST(RestartPolicy, FailureRateIsNotResetByACommit) {
  RestartSettings chosen = settings(RestartSettings::Strategy::failure_rate);
  chosen.failures_max = 1;
  RestartPolicy policy(chosen);
  EXPECT_EQ(fail(policy, 1), Delays{milliseconds(500)});
  policy.succeeded();
  EXPECT_EQ(fail(policy, 1), Delays{std::nullopt}) << "a job that fails at every epoch must not go on for ever";
}

}  // namespace

}  // namespace sluice
