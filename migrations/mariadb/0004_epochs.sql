CREATE TABLE IF NOT EXISTS sluice_epochs (
  job            varchar(64)  NOT NULL,
  sink           varchar(64)  NOT NULL,
  task           int          NOT NULL,
  generation     bigint       NOT NULL,
  epoch          bigint       NOT NULL,
  transaction_id varchar(200) NOT NULL,
  committed_at   datetime(6)  NOT NULL,
  PRIMARY KEY (job, sink, task, generation, epoch)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin;
