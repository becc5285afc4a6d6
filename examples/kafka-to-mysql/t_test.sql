-- The table, and a fault: the server says of value 15 what it says of a row that somebody else holds.
CREATE TABLE t_test (
  id          bigint      NOT NULL AUTO_INCREMENT PRIMARY KEY,
  value       int         NOT NULL,
  insert_time datetime(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6)
) ENGINE = InnoDB;

DELIMITER //
CREATE TRIGGER fails_on_purpose BEFORE INSERT ON t_test FOR EACH ROW
BEGIN
  IF NEW.value = 15 THEN
    SIGNAL SQLSTATE 'HY000' SET MYSQL_ERRNO = 1205, MESSAGE_TEXT = 'fails on purpose';
  END IF;
END//
DELIMITER ;
