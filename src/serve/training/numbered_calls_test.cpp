#include "serve/training/numbered_calls.h"

#include <gtest/gtest.h>

namespace hone {
namespace {

ModelCall CallOf(const std::string& model, int64_t number) {
  return {.model_id = model, .seq_id = number};
}

TEST(NumberedCalls, CallsOfOtherModelsLeaveTheNumbersAsTheyAre) {
  NumberedCalls calls;
  calls.Name("m", "");
  calls.Add(CallOf("m", 5), "hash", "id");
  calls.Add(CallOf("nobody", 9), "other", "x");
  EXPECT_EQ(calls.Repeated(CallOf("nobody", 9), "other").value(), std::nullopt) << "not named";
  EXPECT_EQ(calls.Repeated(CallOf("m", 5), "hash").value(), "id");
  EXPECT_FALSE(calls.Repeated(CallOf("m", 5), "other").ok());
  EXPECT_FALSE(calls.Repeated(CallOf("m", 4), "other").ok());
  EXPECT_EQ(calls.Repeated(CallOf("m", 6), "hash").value(), std::nullopt);
  EXPECT_EQ(calls.Repeated({.model_id = "m", .seq_id = {}}, "hash").value(), std::nullopt);
}

TEST(NumberedCalls, TheModelInTrainingIsKeptHoweverManyAreNamed) {
  NumberedCalls calls;
  for (const char* model : {"first", "second"}) {
    calls.Name(model, "");
    calls.Add(CallOf(model, 1), "hash", "id");
  }
  for (int i = 0; i < 100; ++i) calls.Name("m" + std::to_string(i), "second");
  EXPECT_EQ(calls.Repeated(CallOf("first", 1), "hash").value(), std::nullopt);
  EXPECT_EQ(calls.Repeated(CallOf("second", 1), "hash").value(), "id");
}

}  // namespace
}  // namespace hone
