CREATE TABLE sluice_checkpoints (
  job          text        NOT NULL,
  task         integer     NOT NULL,
  generation   bigint      NOT NULL,
  sequence     bigint      NOT NULL,
  checkpoint   text        NOT NULL,
  published_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (job, task)
);
