#include "base/check.h"

#include <gtest/gtest.h>

namespace hone {
namespace {

TEST(CheckDeathTest, AFailedCheckNamesTheConditionAndTheMessage) {
  EXPECT_DEATH(CHECK(1 == 2, "numbers moved"), "check_test.cpp:.*1 == 2: numbers moved");
}

TEST(Check, APassingCheckEvaluatesItsConditionOnce) {
  int evaluations = 0;
  CHECK(++evaluations == 1);
  EXPECT_EQ(evaluations, 1);
}

}  // namespace
}  // namespace hone
