#include "record/final_state.h"

#include <gtest/gtest.h>

namespace hone {
namespace {

TEST(FinalStateTest, WhatWasWrittenIsReadAndStandsInTheOrderItWasGiven) {
  const Json state = FinalStateWriter().Answer("fog").Verdict(true).Own("sent", 2).Take();
  EXPECT_EQ(DumpJson(state), R"({"answer":"fog","verdict":true,"sent":2})");
  const FinalState end(state);
  EXPECT_EQ(end.is_right(), true);
  EXPECT_EQ(*end.answer(), Json("fog"));
  EXPECT_EQ(end.milestones(), nullptr);
}

TEST(FinalStateTest, NoOpinionIsNotAVerdictAndNeitherIsAWord) {
  const auto read = [](const char* text) {
    const Json state = ParseJson(text).value();
    return std::pair(FinalState(state).has_verdict(), FinalState(state).is_right());
  };
  EXPECT_EQ(read("{}"), std::pair(false, std::optional<bool>()));
  EXPECT_EQ(read("null"), std::pair(false, std::optional<bool>()));
  EXPECT_EQ(read(R"({"verdict":null})"), std::pair(false, std::optional<bool>()));
  EXPECT_EQ(read(R"({"verdict":"fine"})"), std::pair(true, std::optional<bool>()));
  EXPECT_EQ(read(R"({"verdict":false})"), std::pair(true, std::optional<bool>(false)));
}

}  // namespace
}  // namespace hone
