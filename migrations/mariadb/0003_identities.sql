CREATE TABLE IF NOT EXISTS sluice_tables (
  job      varchar(64)  NOT NULL,
  sink     varchar(64)  NOT NULL,
  topic    varchar(512) NOT NULL,
  table_id varchar(200) NOT NULL,
  PRIMARY KEY (job, sink, topic)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin;
