"""Several processes, and whatever chance does to them, their servers and their networks: every record once.

SLUICE_IT_SEED and SLUICE_IT_CHAOS_SECONDS choose another run; integration-tests/chaos runs a longer one."""

import unittest

from sluice_it.case import scale
from sluice_it.chaos import Chaos, schedule

SECONDS = scale("SLUICE_IT_CHAOS_SECONDS", 90)
SEED = scale("SLUICE_IT_SEED", 36)
# The seed is chosen so that each of them happens within the time; a shorter run or another seed may miss some.
TROUBLES = (
    "process: kill -9",
    "process: pause",
    "process: terminate",
    "database: stop immediately",
    "broker: kill -9",
    "network: reset",
    "network: forget",
    "network: delay",
    "network: stall",
    "network: half-open",
    "network: refuse",
)


class Schedule(unittest.TestCase):
    def test_comes_from_the_seed_alone(self):
        self.assertEqual(schedule(5, 600, 3), schedule(5, 600, 3))
        self.assertNotEqual(schedule(5, 600, 3), schedule(6, 600, 3))

    def test_a_longer_one_begins_like_a_shorter_one(self):
        shorter = schedule(5, 60, 3)
        self.assertEqual(shorter, [action for action in schedule(5, 600, 3) if action in set(shorter)])

    def test_holds_every_trouble(self):
        happens = {(action.target.split()[0], action.what) for action in schedule(SEED, 90, 3)}
        for trouble in TROUBLES:
            with self.subTest(trouble):
                self.assertIn(tuple(trouble.split(": ")), happens)

    def test_ends_in_time(self):
        self.assertLessEqual(max(action.at for action in schedule(5, 600, 3)), 600)


class Troubles(unittest.TestCase):
    def test_every_record_once(self):
        lines = []
        chaos = Chaos(seed=SEED, seconds=SECONDS, say=lines.append)
        try:
            audit = chaos.run()
        except AssertionError as failure:
            raise AssertionError(f"{failure}; SLUICE_IT_SEED={SEED}\n" + "\n".join(lines)) from None
        finally:
            chaos.close()
        said = f"{audit}; SLUICE_IT_SEED={SEED}\n" + "\n".join(lines)
        self.assertTrue(audit.clean(), said)
        # What follows says that the run was one: there was work, and the troubles met it.
        self.assertGreater(audit.expected, 200 * SECONDS, said)
        self.assertGreater(chaos.committed_before_healing, audit.expected // 2, said)
        self.assertGreater(chaos.counts["splits taken over"], 2 * chaos.partitions, said)
        self.assertGreater(chaos.counts["looked at the table"], SECONDS // 10, said)


if __name__ == "__main__":
    unittest.main()
