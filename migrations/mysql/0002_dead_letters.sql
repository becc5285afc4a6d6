CREATE TABLE IF NOT EXISTS sluice_dead_letters (
  job              varchar(64)  NOT NULL,
  sink             varchar(64)  NOT NULL,
  topic            varchar(512) NOT NULL,
  `partition`      int          NOT NULL,
  record_offset    bigint       NOT NULL,
  record_timestamp bigint,
  record_key       longblob,
  record_value     longblob,
  record_headers   longtext,
  error_class      varchar(40)  NOT NULL,
  error_code       varchar(100),
  error_message    longtext     NOT NULL,
  epoch            bigint       NOT NULL,
  created_at       datetime(6)  NOT NULL,
  PRIMARY KEY (job, sink, topic, `partition`, record_offset)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin;
