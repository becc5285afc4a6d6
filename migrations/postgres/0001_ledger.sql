CREATE TABLE sluice_ledger (
  job         text        NOT NULL,
  sink        text        NOT NULL,
  topic       text        NOT NULL,
  "partition" integer     NOT NULL,
  next_offset bigint      NOT NULL,
  epoch       bigint      NOT NULL,
  generation  bigint      NOT NULL,
  owner       text,
  updated_at  timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (job, sink, topic, "partition")
) WITH (fillfactor = 50);
