CREATE TABLE sluice_checkpoints (
  job          TEXT    NOT NULL,
  task         INTEGER NOT NULL,
  generation   INTEGER NOT NULL,
  sequence     INTEGER NOT NULL,
  checkpoint   TEXT    NOT NULL,
  published_at TEXT    NOT NULL,
  PRIMARY KEY (job, task)
) WITHOUT ROWID;
