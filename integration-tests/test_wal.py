"""commit.protocol wal, on every database: an epoch waits in a file for one short transaction, and a file is used only
where the ledger says that it is the next one."""

import unittest

from sluice_it.case import Case, MysqlCase, PostgresCase, SqliteCase, orders_table, scale, servers
from sluice_it.process import FAILED, KILLED

RECORDS = scale("SLUICE_IT_RECORDS", 20000)
KILLS = scale("SLUICE_IT_KILLS", 6)


class Wal:
    """Mixed into a case of a database, which says how to make a table without a key and how to count."""

    def setUp(self):
        super().setUp()
        self.create_topic()
        self.new_table()
        self.produce(RECORDS)
        self.job_file = self.job()

    def job(self, **changes):
        sink = self.sink(**{"commit.protocol": "wal", **changes})
        return self.write_job(sink, checkpoint={"max.rows": RECORDS // 8, "directory": "state"})

    def files(self):
        return sorted((self.folder / "state").glob("*.epochs/*"))

    def die_at(self, fault):
        run = self.start("run", self.job_file, "--bounded", fault=fault)
        self.assertEqual(run.wait(), KILLED, run.output()[-3000:])
        return run

    def finish_and_audit(self):
        run = self.run_bounded(self.job_file)
        self.assertEqual(self.audit_orders(), RECORDS)
        self.assertEqual(self.files(), [])
        return run

    def test_load(self):
        self.finish_and_audit()

    def test_whole_epoch_is_written_by_the_next_start(self):
        self.die_at("wal.after_seal:kill@2")
        self.assertEqual([path.suffix for path in self.files()], [".sealed"])
        self.assertEqual(self.count(), RECORDS // 8)
        run = self.finish_and_audit()
        self.assertIn("left behind is written", run.output())

    def test_epoch_that_was_written_is_not_written_again(self):
        self.die_at("wal.before_remove:kill@2")
        self.assertEqual(self.count(), RECORDS // 4)
        self.assertNotIn("left behind is written", self.finish_and_audit().output())

    def test_unfinished_epoch_is_read_again(self):
        self.die_at("wal.before_seal:kill@2")
        self.assertEqual(self.count(), RECORDS // 8)
        self.finish_and_audit()

    def test_torn_epoch_is_read_again(self):
        self.die_at("wal.after_seal:kill@2")
        (file,) = self.files()
        file.write_bytes(file.read_bytes()[:-100])
        self.assertIn("checksum does not fit", self.finish_and_audit().output())

    def test_changed_epoch_is_read_again(self):
        self.die_at("wal.after_seal:kill@2")
        (file,) = self.files()
        content = bytearray(file.read_bytes())
        content[len(content) // 2] ^= 1
        file.write_bytes(content)
        self.assertIn("checksum does not fit", self.finish_and_audit().output())

    def test_missing_epoch_is_read_again(self):
        self.die_at("wal.after_seal:kill@2")
        (file,) = self.files()
        file.unlink()
        self.finish_and_audit()

    def test_epoch_behind_the_ledger_is_thrown_away(self):
        """Somebody else has gone on from there meanwhile."""
        self.die_at("wal.after_seal:kill@2")
        (file,) = self.files()
        content, name = file.read_bytes(), file.name
        self.finish_and_audit()
        (file.parent / name).write_bytes(content)
        self.finish_and_audit()

    def test_bad_record_is_found(self):
        self.produce_lines(['{"id": "no number", "customer": 1}'], partition=1)
        run = self.run_bounded(self.job_file, code=FAILED)
        self.assertIn(f"{self.topic}-1@{RECORDS // 4}", run.output())
        self.assertEqual(self.files(), [])

    def test_killed_at_random_moments(self):
        self.kill_at_random(self.job_file, KILLS)
        self.finish_and_audit()


class OnPostgres(Wal, PostgresCase):
    def new_table(self):
        self.sql(orders_table(key=""))

    def test_dead_letters_wait_in_the_file(self):
        self.produce_lines(["no JSON", '{"id": 1, "status": "' + "x" * 30 + '"}'], partition=2)
        self.sql("alter table orders add check (length(status) < 20)")
        sink = self.sink(**{"commit.protocol": "wal"})
        self.job_file = self.write_job(
            sink, checkpoint={"max.rows": RECORDS // 8, "directory": "state"}, errors={"tolerance": "all"}
        )
        run = self.start("run", self.job_file, "--bounded", fault="wal.after_seal:kill@3")
        self.assertEqual(run.wait(), KILLED, run.output()[-3000:])
        self.run_bounded(self.job_file)
        letters = self.sql("select record_offset, error_class from sluice_dead_letters order by 1")
        self.assertEqual([kind for _, kind in letters], ["data", "constraint"])
        self.assertEqual(self.count(), RECORDS)

    def test_no_transaction_is_open_while_an_epoch_is(self):
        sink = self.sink(**{"commit.protocol": "wal"})
        job_file = self.write_job(sink, checkpoint={"interval": "1h", "min.pause": "1h", "max.rows": 10 * RECORDS, "directory": "state"})
        run = self.start("run", job_file)
        self.wait_until(lambda: self.count() == RECORDS, "the first epoch, which ends with the topic")
        self.produce(RECORDS, first=RECORDS)
        self.wait_until(lambda: any(path.stat().st_size > 0 for path in self.files()), "rows to wait in a file")
        open_ones = "select query from pg_stat_activity where datname = current_database() and xact_start is not null"
        self.assertEqual(self.sql(open_ones + " and pid <> pg_backend_pid()"), [])
        self.assertEqual(self.count(), RECORDS)
        self.assertEqual(run.terminate(), 0, run.output()[-3000:])
        self.assertEqual(self.audit_orders(), 2 * RECORDS)


class OnSqlite(Wal, SqliteCase):
    def new_table(self):
        self.execute("create table orders (id integer, customer int, amount text, status text, note text, ts bigint)")

    def count(self):
        return self.execute("select count(*) from orders")[0][0]


class OnMysql(Wal, MysqlCase):
    find_server = staticmethod(lambda: servers.mysql)

    def new_table(self):
        self.create_orders(key="")

    def count(self):
        return int(self.sql("select count(*) from orders")[0][0])


class OnMariadb(OnMysql):
    find_server = staticmethod(lambda: servers.mariadb)


if __name__ == "__main__":
    unittest.main()
