CREATE TABLE IF NOT EXISTS sluice_checkpoints (
  job          varchar(64) NOT NULL,
  task         int         NOT NULL,
  generation   bigint      NOT NULL,
  sequence     bigint      NOT NULL,
  checkpoint   mediumtext  NOT NULL,
  published_at datetime(6) NOT NULL,
  PRIMARY KEY (job, task)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin;
