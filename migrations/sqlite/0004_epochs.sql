CREATE TABLE sluice_epochs (
  job            TEXT    NOT NULL,
  sink           TEXT    NOT NULL,
  task           INTEGER NOT NULL,
  generation     INTEGER NOT NULL,
  epoch          INTEGER NOT NULL,
  transaction_id TEXT    NOT NULL,
  committed_at   TEXT    NOT NULL,
  PRIMARY KEY (job, sink, task, generation, epoch)
) WITHOUT ROWID;
