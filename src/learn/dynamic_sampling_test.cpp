#include "learn/dynamic_sampling.h"

#include <gtest/gtest.h>

namespace hone {
namespace {

using Pad = DynamicSamplingOptions::Pad;
using Values = std::vector<std::vector<double>>;

const std::vector<double> kMixed = {0, 1, 1}, kRight = {1, 1, 1}, kWrong = {0, 0, 0}, kOne = {1};

TEST(DynamicSampling, DrawsAgainUntilEnoughGroupsSaySomething) {
  DynamicSampler sampler({.on = true}, 3);
  EXPECT_EQ(sampler.Missing(), 3u);
  sampler.Add(Values{kMixed, kRight, kWrong});
  EXPECT_EQ(sampler.Missing(), 6u) << "two are missing, one in three was kept";
  sampler.Add(Values{kRight, kMixed, kOne, kMixed, kMixed, kRight});
  EXPECT_EQ(sampler.Missing(), 0u);
  EXPECT_EQ(sampler.Chosen(), (std::vector<size_t>{0, 4, 6})) << "the first, by number";
  EXPECT_EQ(sampler.kept(), 4u);
  EXPECT_EQ(sampler.drawn(), 9u);
}

TEST(DynamicSampling, RoundsAreBounded) {
  DynamicSampler sampler({.on = true, .rounds = 4}, 2);
  int rounds = 0;
  while (const size_t more = sampler.Missing()) {
    EXPECT_LE(more, 8u) << "at most four for each that is missing";
    sampler.Add(Values(more, kRight));
    ++rounds;
  }
  EXPECT_EQ(rounds, 4);
  EXPECT_TRUE(sampler.Chosen().empty()) << "an empty step is said, not hidden";
}

TEST(DynamicSampling, WhatFillsTheStep) {
  for (const auto& [pad, expected] :
       {std::pair{Pad::kShrink, std::vector<size_t>{1, 3}},
        std::pair{Pad::kUnfiltered, std::vector<size_t>{1, 3, 0, 4}},
        std::pair{Pad::kDuplicate, std::vector<size_t>{1, 3, 1, 3}}}) {
    DynamicSampler sampler({.on = true, .rounds = 1, .pad = pad}, 4);
    sampler.Add(Values{kRight, kMixed, kOne, kMixed, kWrong});
    EXPECT_EQ(sampler.Chosen(), expected);
  }
  DynamicSampler none({.on = true, .rounds = 1, .pad = Pad::kDuplicate}, 4);
  none.Add(Values{kRight, kOne});
  EXPECT_TRUE(none.Chosen().empty()) << "nothing to repeat";
}

TEST(DynamicSampling, TheLeastDeviationIsASetting) {
  const std::vector<double> close = {0.50, 0.55, 0.60};
  DynamicSampler dapo({.on = true}, 1), strict({.on = true, .least_deviation = 0.1}, 1);
  dapo.Add(Values{close});
  strict.Add(Values{close});
  EXPECT_EQ(dapo.kept(), 1u);
  EXPECT_EQ(strict.kept(), 0u);
}

TEST(DynamicSampling, SwitchedOffEveryGroupIsTaken) {
  DynamicSampler sampler({}, 3);
  EXPECT_EQ(sampler.Missing(), 3u);
  sampler.Add(Values{kRight, kOne, kWrong});
  EXPECT_EQ(sampler.Missing(), 0u);
  EXPECT_EQ(sampler.Chosen(), (std::vector<size_t>{0, 1, 2}));
}

TEST(DynamicSampling, IsReadFromARecipe) {
  auto recipe = Recipe::Parse("on = true\nrounds = 3\npad = 'duplicate'\n", "r.toml");
  const DynamicSamplingOptions options = ReadDynamicSampling(recipe->Root());
  ASSERT_TRUE(recipe->Finish().ok());
  EXPECT_TRUE(options.on);
  EXPECT_EQ(options.rounds, 3);
  EXPECT_EQ(options.pad, Pad::kDuplicate);
}

}  // namespace
}  // namespace hone
