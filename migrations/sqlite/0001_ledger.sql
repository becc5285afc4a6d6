CREATE TABLE sluice_ledger (
  job         TEXT    NOT NULL,
  sink        TEXT    NOT NULL,
  topic       TEXT    NOT NULL,
  "partition" INTEGER NOT NULL,
  next_offset INTEGER NOT NULL,
  epoch       INTEGER NOT NULL,
  generation  INTEGER NOT NULL,
  owner       TEXT,
  updated_at  TEXT    NOT NULL,
  PRIMARY KEY (job, sink, topic, "partition")
) WITHOUT ROWID;
