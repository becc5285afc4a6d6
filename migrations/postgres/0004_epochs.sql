CREATE TABLE sluice_epochs (
  job            text        NOT NULL,
  sink           text        NOT NULL,
  task           integer     NOT NULL,
  generation     bigint      NOT NULL,
  epoch          bigint      NOT NULL,
  transaction_id text        NOT NULL,
  committed_at   timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (job, sink, task, generation, epoch)
);
