CREATE TABLE IF NOT EXISTS sluice_ledger (
  job         varchar(64)  NOT NULL,
  sink        varchar(64)  NOT NULL,
  topic       varchar(512) NOT NULL,
  `partition` int          NOT NULL,
  next_offset bigint       NOT NULL,
  epoch       bigint       NOT NULL,
  generation  bigint       NOT NULL,
  owner       varchar(1000),
  topic_id    varchar(200),
  updated_at  datetime(6)  NOT NULL,
  PRIMARY KEY (job, sink, topic, `partition`)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin;
