#include "sinks/mysql/errors.h"

#include <gtest/gtest.h>

namespace sluice::mysql {
namespace {

TEST(MysqlErrors, ARecordIsToBlameOnlyForWhatItHolds) {
  for (const int number : {1048, 1062, 1264, 1265, 1292, 1366, 1406, 1452, 1644, 3140, 3819, 4025}) {
    EXPECT_EQ(classify(number, "HY000"), Fault::bad_record) << number;
  }
  for (const int number : {1021, 1040, 1114, 1205, 1213, 1290, 1053, 1927, 2003, 2006, 2013, 4031}) {
    EXPECT_EQ(classify(number, "HY000"), Fault::retryable) << number;
  }
  // errors of the server with its own files: cannot create, write, delete; disk full
  for (const int number : {1, 3, 6, 20}) EXPECT_EQ(classify(number, "HY000"), Fault::retryable) << number;
  for (const int number : {1044, 1045, 1049, 1054, 1064, 1142, 1146}) {
    EXPECT_EQ(classify(number, "42000"), Fault::fatal) << number;
  }
}

TEST(MysqlErrors, AnUnknownNumberIsJudgedByItsState) {
  EXPECT_EQ(classify(9999, "22007"), Fault::bad_record);
  EXPECT_EQ(classify(9999, "23000"), Fault::bad_record);
  EXPECT_EQ(classify(9999, "45000"), Fault::bad_record);
  EXPECT_EQ(classify(9999, "40001"), Fault::retryable);
  EXPECT_EQ(classify(9999, "08S01"), Fault::retryable);
  EXPECT_EQ(classify(9999, "HY000"), Fault::fatal);
}

TEST(MysqlErrors, AfterALossTheAnswerIsInDoubt) {
  EXPECT_TRUE(is_connection_loss(2013));
  EXPECT_TRUE(is_connection_loss(1927));
  EXPECT_FALSE(is_connection_loss(1213));
}

TEST(MysqlErrors, RulesAreToldFromWrongValues) {
  EXPECT_TRUE(is_rule(1062, "23000"));
  EXPECT_TRUE(is_rule(1242, "21000"));
  EXPECT_TRUE(is_rule(4025, "23000"));
  EXPECT_TRUE(is_rule(1234, "45000"));
  EXPECT_FALSE(is_rule(1366, "HY000"));
}

TEST(MysqlErrors, ValuesAreLeftOutOfMessages) {
  EXPECT_EQ(shown(1062, "23000", "Duplicate entry '47' for key 'x' for key 'orders.PRIMARY'"),
            "Duplicate entry for key 'orders.PRIMARY'");
  EXPECT_EQ(shown(1366, "HY000", "Incorrect integer value: 'a' for column 'b' for column 'n' at row 3"),
            "Incorrect integer value for column 'n' at row 3");
  EXPECT_EQ(shown(1292, "22007", "Truncated incorrect DOUBLE value: 'secret'"), "Truncated incorrect DOUBLE value");
  EXPECT_EQ(shown(1644, "45000", "secret"), "a trigger or procedure of the database refused the row");
  EXPECT_EQ(shown(1406, "22001", "Data too long for column 'n' at row 1"), "Data too long for column 'n' at row 1");
}

}  // namespace
}  // namespace sluice::mysql
