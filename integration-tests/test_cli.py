"""The commands around `run`, as scripts rely on them: exit codes, messages, JSON."""

import json
import os
import signal
import unittest

from sluice_it import process
from sluice_it.case import PostgresCase, orders_table
from sluice_it.process import DONE, FAILED, PROBLEM, USAGE, call


class Usage(PostgresCase):
    def test_wrong_calls(self):
        for arguments in (
            [],
            ["no-such-command"],
            ["run"],
            ["run", "no-such-file.json"],
            ["status", "no-such-file.json"],
            ["run", "--no-such-option"],
        ):
            with self.subTest(arguments=arguments):
                self.assertTrue(self.call(*arguments, code=USAGE).strip(), "no word about what is wrong")

    def test_help(self):
        for command in ("run", "check", "migrate", "status", "demo"):
            self.assertIn(command, self.call("--help"))
        self.assertIn("--bounded", self.call("run", "--help"))

    def test_demo_ends_in_its_audit(self):
        """What the README shows first: no server, kills, and a line that says what they did."""
        ended, out, said = process.call("demo", "--directory", self.folder / "demo", cwd=self.folder, seconds=240)
        self.assertEqual(ended, DONE, out[-2000:] + said[-2000:])
        line = out.strip().splitlines()[-1]
        self.assertIn("lost 0, duplicated 0", line)
        self.assertGreaterEqual(int(line.split("kills survived ")[1].split(":")[0]), 5)

    def test_unknown_key_is_named_with_its_place(self):
        job_file = self.write_job(self.sink(**{"insert.mod": "insert"}))
        line, column = self.place_of(job_file, '"insert.mod"')
        said = self.call("run", job_file, code=USAGE)
        self.assertIn(f"job.json:{line}:{column}", said)
        self.assertIn("insert.mode", said)

    def test_wrong_value_is_named_with_its_place(self):
        job_file = self.write_job(self.sink(), checkpoint={"interval": "soon"})
        line, _ = self.place_of(job_file, '"interval"')
        self.assertIn(f"job.json:{line}:", self.call("run", job_file, code=USAGE))

    @staticmethod
    def place_of(job_file, key):
        for number, line in enumerate(job_file.read_text().splitlines(), 1):
            if key in line:
                return number, line.index(key) + 1
        raise AssertionError(f"{key} is not in {job_file}")

    def test_values_from_the_environment(self):
        self.sql(orders_table())
        self.create_topic()
        self.produce(100)
        job_file = self.write_job({**self.sink(), "connection.url": "${env:SLUICE_IT_URL}"})
        self.assertIn("SLUICE_IT_URL", self.call("run", job_file, "--bounded", code=USAGE))
        self.run_bounded(job_file, env={"SLUICE_IT_URL": self.server.url(self.database)})
        self.assertEqual(self.audit_orders(), 100)

    def test_settings_on_the_command_line(self):
        self.sql(orders_table("other"))
        self.create_topic()
        self.produce(100)
        job_file = self.write_job(self.sink())
        run = self.start("run", job_file, "--bounded", "--set", "sink.table.name.format=other")
        self.assertEqual(run.wait(), DONE, run.output())
        self.assertEqual(self.audit_orders("other"), 100)


class Migrate(PostgresCase):
    def test_creates_the_recovery_tables_once(self):
        job_file = self.write_job(self.sink())
        printed = self.call("migrate", job_file, "--print")
        self.assertIn("sluice_ledger", printed)
        self.assertFalse(self.ledger_exists(), "--print changed the database")
        self.call("migrate", job_file)
        self.assertTrue(self.ledger_exists())
        applied = self.sql("select version, name from sluice_migrations order by version")
        self.assertTrue(applied)
        self.call("migrate", job_file)
        self.assertEqual(self.sql("select version, name from sluice_migrations order by version"), applied)


    def test_somebody_else_may_run_what_it_prints(self):
        self.create_topic()
        self.sql(orders_table())
        self.sql("create role writer login")
        self.addCleanup(self.sql, "drop owned by writer; drop role writer")
        job_file = self.write_job(self.sink(**{"connection.url": self.server.url(self.database, user="writer")}))
        self.assertIn("sluice migrate", self.run_bounded(job_file, code=FAILED).output())
        self.sql(self.call("migrate", job_file, "--print"))
        self.sql("grant select, insert, update, delete on all tables in schema public to writer")
        self.produce(40)
        self.run_bounded(job_file)
        self.assertEqual(self.audit_orders(), 40)
        self.assertIn("nothing to do", self.call("migrate", job_file, "--print"))


class Status(PostgresCase):
    def setUp(self):
        super().setUp()
        self.sql(orders_table())
        self.create_topic()
        self.produce(400)
        self.job_file = self.write_job(self.sink())

    def test_as_json(self):
        self.run_bounded(self.job_file)
        self.produce(40, first=400)
        told = process.status(self.job_file, self.folder)
        self.assertEqual(told["job"], self.name)
        splits = sorted(told["splits"], key=lambda split: split["partition"])
        self.assertEqual(
            [(s["topic"], s["partition"], s["next_offset"], s["lag"]) for s in splits],
            [(self.topic, partition, 100, 10) for partition in range(4)],
        )
        first = {s["partition"]: s["generation"] for s in splits}
        self.run_bounded(self.job_file)
        for split in process.status(self.job_file, self.folder)["splits"]:
            self.assertGreater(split["generation"], first[split["partition"]])
            self.assertEqual(split["lag"], 0)
            self.assertGreater(split["epoch"], 0)
        self.assertNotIn("not-a-real-secret", json.dumps(told))

    def test_as_text(self):
        self.run_bounded(self.job_file)
        said = self.call("status", self.job_file)
        self.assertIn(self.topic, said)
        self.assertIn("100", said)

    def test_before_the_first_run(self):
        self.assertIn("sluice run", self.call("status", self.job_file, code=FAILED))
        self.assertFalse(self.ledger_exists(), "status changed the database")


class Signals(PostgresCase):
    def setUp(self):
        super().setUp()
        self.sql(orders_table(key=""))
        self.create_topic()
        self.produce(200000)
        # One epoch would hold everything, so that the signal always meets an open one.
        self.job_file = self.write_job(self.sink(), checkpoint={"interval": "60s", "max.rows": 10000000})

    def stop_with(self, signal_number):
        run = self.start("run", self.job_file)
        self.wait_until(lambda: self.ledger_exists() and len(self.positions()) == 4, "the splits to be taken over")
        run.child.send_signal(signal_number)
        self.assertEqual(run.wait(30), DONE, run.output())
        self.assertEqual(self.count(), self.committed(), "rows and positions of a finished epoch")
        self.run_bounded(self.job_file)
        self.assertEqual(self.audit_orders(), 200000)

    def test_terminate(self):
        self.stop_with(signal.SIGTERM)

    def test_interrupt(self):
        self.stop_with(signal.SIGINT)


class Scheduling(PostgresCase):
    def scheduler_of_a_run(self):
        self.create_topic()
        run = self.start("run", self.write_job(self.sink()))
        self.addCleanup(run.kill)
        self.wait_until(lambda: self.ledger_exists() and self.positions(), "the splits to be taken over")
        return os.sched_getscheduler(run.child.pid)

    def test_gives_way_to_servers_of_the_same_machine(self):
        self.assertEqual(self.scheduler_of_a_run(), os.SCHED_BATCH)

    def test_what_the_operator_chose_stays(self):
        self.addCleanup(os.sched_setscheduler, 0, os.sched_getscheduler(0), os.sched_param(0))
        os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
        self.assertEqual(self.scheduler_of_a_run(), os.SCHED_IDLE)


class Failure(PostgresCase):
    def test_password_that_is_not_escaped_is_not_shown(self):
        """libpq takes part of it for a host, a port or an escape, and would show it."""
        self.create_topic()
        for password in ("a%SECRET", "a@SECRET", "a/SECRET", "a?SECRET", "a#SECRET"):
            sink = {**self.sink(), "connection.url": f"postgresql://app:{password}@127.0.0.1:9/nowhere"}
            said = self.run_bounded(self.write_job(sink), code=FAILED).output()
            self.assertIn("PGPASSWORD", said)
            self.assertNotIn("SECRET", said)

    def test_url_that_cannot_be_read_stops_at_once_and_shows_no_password(self):
        self.create_topic()
        for rest in (
            "SECRET@[::1/shop",
            "SECRET@[::1]x/shop",
            "SECRET%00@127.0.0.1:9/shop",
            "SECRET@127.0.0.1:9/shop?sslmode=bogus",
            "SECRET@127.0.0.1:none/shop",
            "SECRET@127.0.0.1:9/shop?nonsense=1",
        ):
            sink = {**self.sink(), "connection.url": f"postgresql://app:{rest}"}
            for command in ("run", "check", "status"):
                ended, out, said = call(command, self.write_job(sink), cwd=self.folder)
                self.assertIn(ended, (FAILED, PROBLEM), rest)
                self.assertIn("connection.url", out + said)
                self.assertNotIn("SECRET", out + said)

    def test_of_a_database_that_is_not_there(self):
        self.create_topic()
        sink = {**self.sink(), "connection.url": "postgresql://app:not-a-real-secret@127.0.0.1:9/nowhere"}
        job_file = self.write_job(sink, restart={"attempts": 2})
        said = self.run_bounded(job_file, code=FAILED).output()
        self.assertIn("127.0.0.1", said)
        self.assertNotIn("not-a-real-secret", said)


if __name__ == "__main__":
    unittest.main()
