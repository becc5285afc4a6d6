CREATE TABLE sluice_dead_letters (
  job              TEXT    NOT NULL,
  sink             TEXT    NOT NULL,
  topic            TEXT    NOT NULL,
  "partition"      INTEGER NOT NULL,
  record_offset    INTEGER NOT NULL,
  record_timestamp INTEGER,
  record_key       BLOB,
  record_value     BLOB,
  record_headers   TEXT,
  error_class      TEXT    NOT NULL,
  error_code       TEXT,
  error_message    TEXT    NOT NULL,
  epoch            INTEGER NOT NULL,
  created_at       TEXT    NOT NULL,
  PRIMARY KEY (job, sink, topic, "partition", record_offset)
) WITHOUT ROWID;
