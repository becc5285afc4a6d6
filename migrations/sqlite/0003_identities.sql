ALTER TABLE sluice_ledger ADD COLUMN topic_id TEXT;
CREATE TABLE sluice_tables (
  job      TEXT NOT NULL,
  sink     TEXT NOT NULL,
  topic    TEXT NOT NULL,
  table_id TEXT NOT NULL,
  PRIMARY KEY (job, sink, topic)
) WITHOUT ROWID;
