#include "app/views/replay_view.h"

#include <gtest/gtest.h>

namespace hone {
namespace {

Verification Sample() {
  return {
      .stored = {.steps = 2, .groups = 8, .trajectories = 64, .tokens = 12345, .checkpoints = 1},
      .equal = {.steps = 2, .groups = 8, .trajectories = 64, .tokens = 12345, .rewards = 70},
      .first_step = 800,
      .end_step = 802,
      .begun_with = "the recipe and seed 1",
      .notes = {"evaluations are not made again"}};
}

TEST(ReplayView, ThePlanSaysWhatIsStoredAndHowToGoOn) {
  const std::string text = ReplayPlanView("runs/a", Sample(), Terminal{});
  for (const char* part : {"runs/a: steps 800 to 801, derived from the recipe and seed 1",
                           "12,345 stored", "hone replay runs/a --verify"}) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  }
}

TEST(ReplayView, WhatWasVerifiedAndWhatWasNotStandThere) {
  const std::string text = ReplayView("runs/a", Sample(), Terminal{});
  for (const char* part :
       {"The same, bit for bit.", "Not verified:", "evaluations are not made again", "12,345"}) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  }
}

TEST(ReplayView, ADifferenceIsShownAndCannotRewriteTheScreen) {
  Verification verification = Sample();
  verification.differences.push_back({.step = 801,
                                      .place = "group 0 (tree 5, task t), trajectory 3",
                                      .derived = "a",
                                      .stored = "\x1b[2Jb"});
  const std::string text = ReplayView("runs/a", verification, Terminal{});
  EXPECT_NE(text.find("First difference: step 801, group 0 (tree 5, task t), trajectory 3"),
            std::string::npos)
      << text;
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_EQ(text.find("The same"), std::string::npos);
}

}  // namespace
}  // namespace hone
