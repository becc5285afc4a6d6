#include "sinks/postgres/errors.h"

#include <gtest/gtest.h>

#include <string>

namespace sluice::postgres {
namespace {

TEST(PostgresErrors, ClassesDecideWhatTheRuntimeDoes) {
  for (const char* code :
       {"", "08006", "53100", "53300", "57P01", "57014", "40001", "40P01", "55P03", "25P03", "58030"})
    EXPECT_EQ(classify(code), Fault::retryable) << code;
  for (const char* code : {"22001", "22003", "22P02", "23505", "23502", "23514", "P0001", "44000", "21000"})
    EXPECT_EQ(classify(code), Fault::bad_record) << code;
  for (const char* code : {"28P01", "42501", "42P01", "42703", "3D000", "0A000", "XX001", "08P01", "ZZZZZ"})
    EXPECT_EQ(classify(code), Fault::fatal) << code;
}

// A disk that is full or a server without a free connection says nothing about the record.
TEST(PostgresErrors, ResourcesAreNeverTheRecordsFault) {
  for (const char* code : {"53000", "53100", "53200", "53300", "53400"}) EXPECT_NE(classify(code), Fault::bad_record);
}

TEST(PostgresErrors, NextStepsAreOfTheExactCodeBeforeItsClass) {
  EXPECT_NE(next_step("53100").find("disk"), std::string::npos);
  EXPECT_NE(next_step("53300").find("max_connections"), std::string::npos);
  EXPECT_TRUE(next_step("53200").empty());
  EXPECT_TRUE(next_step("").empty());
}

TEST(PostgresErrors, ValuesOfRowsAreNotShown) {
  EXPECT_EQ(shown("22P02", "ERROR:  invalid input syntax for type integer: \"4711\"\nCONTEXT:  COPY orders, line 1"),
            "invalid input syntax for type integer");
  EXPECT_EQ(shown("22003", "ERROR:  value \"99999999999\" is out of range for type integer"), "value");
  EXPECT_EQ(
      shown("23505", "ERROR:  duplicate key value violates unique constraint \"orders_pkey\"\nDETAIL:  Key (id)=(7)"),
      "duplicate key value violates unique constraint \"orders_pkey\"");
  EXPECT_EQ(shown("P0001", "ERROR:  customer 4711 is blocked").find("4711"), std::string::npos);
}

}  // namespace
}  // namespace sluice::postgres
