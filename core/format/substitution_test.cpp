#include "core/format/substitution.h"

#include <gtest/gtest.h>
#include <stdlib.h>  // setenv

#include "core/format/job_test_file.h"

namespace sluice::format {

namespace {

class Substitution : public JobFileTest {
 protected:
  Substitution() {
    setenv("SLUICE_TEST_SECRET", "p${w", 1);
    unsetenv("SLUICE_TEST_ABSENT");
  }
};

TEST_F(Substitution, PutsVariablesInAndDoesNotLookAtThemAgain) {
  const auto result = substitute("a ${env:SLUICE_TEST_SECRET} b ${env:SLUICE_TEST_SECRET}", folder_);
  EXPECT_EQ(result.error, "");
  EXPECT_EQ(result.text, "a p${w b p${w");
  EXPECT_TRUE(result.changed);
}

TEST_F(Substitution, PutsFilesInWithoutTheirLastLineBreak) {
  write("password", "one\ntwo\n");
  write("windows", "three\r\n");
  EXPECT_EQ(substitute("${file:password}", folder_).text, "one\ntwo");
  EXPECT_EQ(substitute("${file:windows}", folder_).text, "three");
  EXPECT_EQ(substitute("${file:" + (folder_ / "password").string() + "}", "/nowhere").text, "one\ntwo");
}

TEST_F(Substitution, LeavesTheRestAlone) {
  const auto plain = substitute("cost: 5$ {a} ${topic}_v2", folder_);
  EXPECT_EQ(plain.text, "cost: 5$ {a} ${topic}_v2");
  EXPECT_FALSE(plain.changed);
  EXPECT_EQ(substitute("$${env:HOME}", folder_).text, "${env:HOME}");
}

TEST_F(Substitution, SaysWhatIsMissing) {
  EXPECT_EQ(substitute("${env:SLUICE_TEST_ABSENT}", folder_).error,
            "the environment variable \"SLUICE_TEST_ABSENT\" is not set; export it first");
  EXPECT_NE(substitute("${file:absent}", folder_).error.find("/absent\" is not there"), std::string::npos);
  EXPECT_NE(substitute("${file:.}", folder_).error.find("cannot be read"), std::string::npos);
  EXPECT_NE(substitute("${HOME}", folder_).error.find("${HOME} is unknown"), std::string::npos);
  EXPECT_NE(substitute("${env:HOME", folder_).error.find("not closed"), std::string::npos);
}

TEST_F(Substitution, RefusesFilesThatCannotBeASecret) {
  write("large", std::string((1U << 20U) + 1, 'x'));
  EXPECT_NE(substitute("${file:large}", folder_).error.find("larger than 1 MiB"), std::string::npos);
}

}  // namespace

}  // namespace sluice::format
