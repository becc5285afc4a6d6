ALTER TABLE sluice_ledger ADD COLUMN topic_id text;
CREATE TABLE sluice_tables (
  job      text NOT NULL,
  sink     text NOT NULL,
  topic    text NOT NULL,
  table_id text NOT NULL,
  PRIMARY KEY (job, sink, topic)
);
