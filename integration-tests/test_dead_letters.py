"""Records that cannot be written: put aside with their reason, once each, while the good ones go in once each."""

import json
import shutil
import subprocess
import unittest

from sluice_it import oracle, produce
from sluice_it.case import PostgresCase, SqliteCase, orders_table, scale
from sluice_it.process import DONE, FAILED, KILLED

RECORDS = scale("SLUICE_IT_RECORDS", 60000)
KILLS = scale("SLUICE_IT_KILLS", 5)
EVERY = 1000  # one record in so many is bad

def setup_statements():
    return [
        "create table customers (id int primary key)",
        "insert into customers select generate_series(0, 19999)",
        "create table orders (id bigint primary key, customer int not null references customers, "
        "amount numeric(12,2) check (amount >= 0), status varchar(10), note text, ts bigint)",
        "create function no_ghosts() returns trigger language plpgsql as "
        "$$ begin if new.note = 'ghost' then raise exception 'ghost-secret'; end if; return new; end $$",
        "create trigger no_ghosts before insert on orders for each row execute function no_ghosts()",
    ]


def bad_records(number):
    """Ten kinds of bad record by turns: (the text, its class, a part of its reason)."""
    good = json.loads(produce.order(number))
    kinds = [
        (f'{{"id":{number},"note":"half-secret', "data", "not valid JSON"),
        ("[1,2]", "data", "array"),
        ({**good, "customer": "eleven-secret"}, "data", "customer"),
        ({**good, "id": 2**63}, "data", "id"),
        ({**good, "amount": "12345678901.00"}, "data", "amount"),
        ({**good, "status": "much-too-long-secret"}, "data", "status"),
        ({**good, "id": number % 4}, "constraint", "23505"),  # of the first record of its partition
        ({**good, "customer": 4711000}, "constraint", "23503"),
        ({**good, "amount": "-1.00"}, "constraint", "23514"),
        ({**good, "note": "ghost"}, "constraint", "P0001"),
    ]
    record, of, reason = kinds[number // EVERY % len(kinds)]
    return (record if isinstance(record, str) else json.dumps(record), of, reason)


def is_bad(number):
    """One of each thousand, at changing places."""
    return number % EVERY == (number // EVERY * 37 + 11) % EVERY


class Put(PostgresCase):
    def setUp(self):
        super().setUp()
        for statement in setup_statements():
            self.sql(statement)
        self.create_topic()

    def produce_mixed(self, count, partitions=4):
        """Good and bad ones, dealt out over the partitions; `bad` says where the bad ones are and why."""
        self.bad = {}
        for partition in range(partitions):
            numbers = range(partition, count, partitions)
            texts = []
            for offset, number in enumerate(numbers):
                if is_bad(number):
                    text, of, reason = bad_records(number)
                    self.bad[(partition, offset)] = (of, reason)
                    texts.append(text)
                else:
                    texts.append(produce.order(number))
            produce.lines(self.kafka, self.topic, partition, texts)

    def job(self, **changes):
        return self.write_job(self.sink(), errors={"tolerance": "all"}, **changes)

    def letters(self):
        rows = self.sql(
            'select "partition", record_offset, error_class, coalesce(error_code, \'\'), error_message '
            "from sluice_dead_letters"
        )
        return {(int(row[0]), int(row[1])): (row[2], row[3], row[4]) for row in rows}, len(rows)

    def audit(self):
        """Every record is a row or a letter, never both, and each letter says why."""
        letters, count = self.letters()
        self.assertEqual(count, len(letters))
        self.assertEqual(set(letters), set(self.bad))
        for place, (of, reason) in self.bad.items():
            found = letters[place]
            self.assertEqual(found[0], of, f"class of {place}: {found}")
            self.assertTrue(reason in found[1] or reason in found[2], f"reason of {place}: {found}, wanted {reason}")
            self.assertNotIn("secret", found[2], "values do not belong into messages")
        self.assert_clean(oracle.Audit(self.good_rows(), oracle.postgres_rows(self.server, self.database)))

    def good_rows(self):
        return [
            oracle.row_of(value)
            for partition, offset, value in oracle.topic_records(self.kafka, self.topic)
            if (partition, offset) not in self.bad
        ]

    def test_ten_kinds(self):
        self.produce_mixed(RECORDS)
        run = self.run_bounded(self.job())
        self.audit()
        self.assertIn("dead letters", run.output())
        self.assertNotIn("secret", run.output(), "F80")
        self.run_bounded(self.job())
        self.audit()

    def test_under_kills(self):
        """The letters, too, are there once, whenever the process dies."""
        self.produce_mixed(RECORDS)
        for _ in range(KILLS):
            run = self.start("run", self.job())
            before = self.committed()
            goal = before + self.random.randrange(1, max(2, RECORDS // (2 * KILLS)))
            self.wait_until(lambda: not run.running() or self.committed() >= goal, "some progress")
            self.assertEqual(run.kill(), KILLED, run.output()[-3000:])
        self.run_bounded(self.job())
        self.audit()

    def test_retry_after_the_cause_is_mended(self):
        self.produce_mixed(20000)
        job_file = self.job()
        self.run_bounded(job_file)
        self.audit()
        self.sql("insert into customers values (4711000)")
        self.sql("alter table orders drop constraint orders_amount_check")
        self.sql("drop trigger no_ghosts on orders")
        mended = {place for place, (_, reason) in self.bad.items() if reason in ("23503", "23514", "P0001")}
        self.assertGreaterEqual(len(mended), 3)
        rows = self.count()
        listed = self.call("dead-letters", job_file, "--list", "--limit", "10000")
        for partition, offset in mended:
            self.assertIn(f"{self.topic}-{partition}@{offset}", listed)
        said = self.call("dead-letters", job_file, "--retry", code=FAILED)
        self.assertIn(f"{len(mended)} written", said)
        self.assertIn(f"{len(self.bad) - len(mended)} refused again", said)
        self.assertEqual(self.count(), rows + len(mended))
        letters, _ = self.letters()
        self.assertEqual(set(letters), set(self.bad) - mended)
        said = self.call("dead-letters", job_file, "--retry", code=FAILED)
        self.assertIn("0 written", said)
        self.assertEqual(self.count(), rows + len(mended))
        self.assertIn("discarded", self.call("dead-letters", job_file, "--discard"))
        self.assertEqual(self.letters()[1], 0)
        self.assertIn("no dead letters", self.call("dead-letters", job_file))
        self.run_bounded(job_file)
        self.assertEqual(self.count(), rows + len(mended))

    def test_letters_hold_the_record(self):
        """What is needed to look at the record, and to write it later, byte for byte."""
        produce.lines(self.kafka, self.topic, 0, ['k1|{"id":"x"}'], key_delimiter="|")
        self.run_bounded(self.job())
        row = self.sql(
            "select convert_from(record_key, 'UTF8'), convert_from(record_value, 'UTF8'), "
            "record_timestamp > 1700000000000, epoch from sluice_dead_letters"
        )[0]
        self.assertEqual(tuple(row), ("k1", '{"id":"x"}', "t", "1"))

    def test_too_large_a_share_stops_the_job(self):
        texts = [json.dumps({"id": f"x{n}"}) if n % 4 == 0 else produce.order(n) for n in range(4000)]
        produce.lines(self.kafka, self.topic, 0, texts)
        job_file = self.write_job(
            self.sink(), errors={"tolerance": "all", "max.share": 0.2}, checkpoint={"interval": "60s"}
        )
        said = self.run_bounded(job_file, code=FAILED).output()
        self.assertIn("errors.max.share", said)
        self.assertEqual(self.count(), 0)
        self.assertEqual(self.letters()[1], 0)
        self.assertEqual(self.committed(), 0)
        self.call("status", job_file)
        self.run_bounded(self.write_job(self.sink(), errors={"tolerance": "all", "max.share": 0.3}))
        self.assertEqual(self.count(), 3000)
        self.assertEqual(self.letters()[1], 1000)
        self.assertIn("1,000 dead letters", self.call("status", job_file))

    def test_to_a_topic(self):
        """With the header names that tools for Kafka Connect know."""
        dead = self.topic + "-dead"
        self.kafka.admin.create_topic(dead, 1)
        self.produce_mixed(4000)
        job_file = self.write_job(self.sink(), errors={"tolerance": "all", "deadletter": f"topic:{dead}"})
        self.run_bounded(job_file)
        self.assertEqual(self.letters()[1], 0)
        found = {}
        for headers, value in oracle.topic_headers(self.kafka, dead):
            self.assertEqual(headers["__connect.errors.topic"], self.topic)
            place = (int(headers["__connect.errors.partition"]), int(headers["__connect.errors.offset"]))
            found[place] = headers["__connect.errors.exception.class.name"] + headers["__connect.errors.exception.message"]
        self.assertEqual(set(found), set(self.bad))
        for place, (of, reason) in self.bad.items():
            self.assertIn(of, found[place])
            self.assertIn(reason, found[place])
        self.assert_clean(oracle.Audit(self.good_rows(), oracle.postgres_rows(self.server, self.database)))

    def test_missing_topic_of_letters(self):
        self.produce_mixed(4000)
        job_file = self.write_job(self.sink(), errors={"tolerance": "all", "deadletter": "topic:nowhere"})
        said = self.run_bounded(job_file, code=FAILED).output()
        self.assertIn("nowhere", said)
        self.assertEqual(self.count(), 0)

    def test_topic_of_letters_that_takes_none_without_a_key(self):
        dead = self.topic + "-dead"
        self.kafka.admin.create_topic(dead, 1, cleanup_policy="compact")
        self.produce_mixed(4000)
        job_file = self.write_job(self.sink(), errors={"tolerance": "all", "deadletter": f"topic:{dead}"})
        said = self.run_bounded(job_file, code=FAILED).output()
        self.assertIn("cleanup.policy", said)
        self.assertEqual(self.count(), 0, "an epoch is not committed without its letters")
        self.kafka.admin.set_topic(dead, cleanup_policy="delete")
        self.run_bounded(job_file)
        self.assertEqual(len(list(oracle.topic_headers(self.kafka, dead))), len(self.bad))
        self.assert_clean(oracle.Audit(self.good_rows(), oracle.postgres_rows(self.server, self.database)))

    def test_large_record_to_a_topic(self):
        self.topic += "-large"
        self.create_topic(max_message_bytes=5000000)
        self.produce_lines(["x" * 3000000])
        dead = self.topic + "-dead"
        self.kafka.admin.create_topic(dead, 1, max_message_bytes=1000000)
        job_file = self.write_job(self.sink(), errors={"tolerance": "all", "deadletter": f"topic:{dead}"})
        said = self.run_bounded(job_file, code=FAILED).output()
        self.assertIn("raise max.message.bytes", said)
        self.assertEqual(self.committed(), 0)
        self.kafka.admin.set_topic(dead, max_message_bytes=6000000)
        self.run_bounded(job_file)
        self.assertEqual([len(value) for _, value in oracle.topic_headers(self.kafka, dead)], [3000000])

    def test_dropped_on_demand(self):
        self.produce_mixed(4000)
        job_file = self.write_job(self.sink(), errors={"tolerance": "all", "deadletter": "none"})
        said = self.run_bounded(job_file).output()
        self.assertIn("dropped", said)
        self.assertEqual(self.count(), 4000 - len(self.bad))
        self.assertEqual(self.letters()[1], 0)

    def test_characters_that_the_database_cannot_hold(self):
        """F81: U+0000 in text, and its escape in jsonb."""
        self.sql("create table odd (id bigint primary key, note text, extra jsonb)")
        texts = [
            r'{"id":1,"note":"a\u0000b","extra":{}}',
            r'{"id":2,"note":"a","extra":{"k":"a\u0000b"}}',
            r'{"id":3,"note":"a\\u0000b","extra":{"k":"a\\u0000b"}}',
        ]
        produce.lines(self.kafka, self.topic, 0, texts)
        self.run_bounded(self.write_job(self.sink("odd"), errors={"tolerance": "all"}))
        self.assertEqual(self.sql("select id from odd"), [("3",)])
        letters, _ = self.letters()
        self.assertEqual({place: letter[:2] for place, letter in letters.items()}, {(0, 0): ("data", ""), (0, 1): ("data", "")})

    def test_deferred_rules_are_found_too(self):
        """A rule that PostgreSQL checks at the commit says nothing about the record, unless it is asked earlier."""
        self.sql("create table slots (id bigint, slot int unique deferrable initially deferred)")
        texts = [f'{{"id":{n},"slot":{n if n != 700 else 3}}}' for n in range(1000)]
        produce.lines(self.kafka, self.topic, 0, texts)
        self.run_bounded(self.write_job(self.sink("slots"), errors={"tolerance": "all"}))
        self.assertEqual(self.count("slots"), 999)
        letters, _ = self.letters()
        self.assertEqual(set(letters), {(0, 700)})

    def test_upserts_put_aside_too(self):
        self.produce_mixed(20000)
        sink = self.sink(**{"insert.mode": "upsert", "pk.mode": "record_value", "pk.fields": ["id"]})
        self.run_bounded(self.write_job(sink, errors={"tolerance": "all"}))
        # An upsert has nothing against a key that is known.
        taken = {place for place, (_, reason) in self.bad.items() if reason == "23505"}
        letters, _ = self.letters()
        self.assertEqual(set(letters), set(self.bad) - taken)
        self.assertEqual(self.count(), 20000 - len(self.bad))


class NeverALetter(PostgresCase):
    """What is not the record's fault is waited for."""

    def test_too_many_connections(self):
        self.sql(orders_table(key=""))
        self.create_topic()
        self.produce(5000)
        self.sql("create role guest login connection limit 0")
        self.sql("grant all on schema public to guest; grant all on all tables in schema public to guest")
        url = self.server.url(self.database, user="guest")
        job_file = self.write_job(self.sink(**{"connection.url": url}), errors={"tolerance": "all"})
        run = self.start("run", job_file, "--bounded")
        self.wait_until(lambda: "too many connections" in run.output(), "the reason in the log")
        self.sql("alter role guest connection limit 10")
        self.assertEqual(run.wait(), DONE)
        self.assertEqual(self.audit_orders(), 5000)
        self.assertEqual(self.sql("select count(*) from sluice_dead_letters")[0][0], "0")


    def test_full_disk(self):
        """F74. A tablespace of its own is small; where no file system may be mounted, a trigger gives the same answer."""
        place = self.folder / "small"
        place.mkdir()
        self.folder.chmod(0o755)
        full = "raise exception 'could not extend file: No space left on device' using errcode = '53100'"
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=12m", "tmpfs", place], check=False).returncode == 0
        if mounted:
            self.addCleanup(subprocess.run, ["umount", "-l", place], check=False)
            shutil.chown(place, "postgres")
            self.sql(f"create tablespace small location '{place}'")
            self.addCleanup(self.sql, "drop table if exists orders; drop tablespace small")
            self.sql(orders_table(key="") + " tablespace small")
        else:
            self.sql(orders_table(key=""))
            self.sql(f"create function full_disk() returns trigger language plpgsql as $$ begin {full}; end $$")
            self.sql("create trigger full_disk before insert on orders for each row execute function full_disk()")
        self.create_topic()
        self.produce(150000)
        run = self.start("run", self.write_job(self.sink(), errors={"tolerance": "all"}), "--bounded")
        self.wait_until(lambda: "53100" in run.output(), "the reason in the log")
        if mounted:
            subprocess.run(["mount", "-o", "remount,size=200m", place], check=True)
        else:
            self.sql("drop trigger full_disk on orders")
        self.assertEqual(run.wait(), DONE)
        self.assertEqual(self.audit_orders(), 150000)
        self.assertEqual(self.sql("select count(*) from sluice_dead_letters")[0][0], "0")


class OnSqlite(SqliteCase):
    def test_put_aside_and_tried_again(self):
        self.execute("create table orders (id integer primary key, amount int check (amount >= 0))")
        self.create_topic(1)
        texts = [f'{{"id":{n},"amount":{-1 if n % 100 == 50 else n}}}' for n in range(2000)]
        produce.lines(self.kafka, self.topic, 0, [*texts, "{", '{"id":7,"amount":1}'])
        job_file = self.write_job(self.sink(), errors={"tolerance": "all"})
        self.run_bounded(job_file)
        self.assertEqual(self.execute("select count(*) from orders")[0][0], 1980)
        classes = self.execute("select error_class, count(*) from sluice_dead_letters group by 1 order by 1")
        self.assertEqual(classes, [("constraint", 21), ("data", 1)])
        self.execute("create table mended (id integer primary key, amount int)")
        self.execute("insert into mended select * from orders")
        self.execute("drop table orders")
        self.execute("alter table mended rename to orders")
        self.assertIn("20 written and removed, 2 refused again", self.call("dead-letters", job_file, "--retry", code=FAILED))
        self.assertEqual(self.execute("select count(*), count(distinct id) from orders")[0], (2000, 2000))


if __name__ == "__main__":
    unittest.main()
