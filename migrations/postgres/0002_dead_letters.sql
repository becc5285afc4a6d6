CREATE TABLE sluice_dead_letters (
  job              text        NOT NULL,
  sink             text        NOT NULL,
  topic            text        NOT NULL,
  "partition"      integer     NOT NULL,
  record_offset    bigint      NOT NULL,
  record_timestamp bigint,
  record_key       bytea,
  record_value     bytea,
  record_headers   text,
  error_class      text        NOT NULL,
  error_code       text,
  error_message    text        NOT NULL,
  epoch            bigint      NOT NULL,
  created_at       timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (job, sink, topic, "partition", record_offset)
);
