#include "learn/objective_options.h"

#include <gtest/gtest.h>

namespace hone {
namespace {

ObjectiveOptions Read(const std::string& toml, std::string* problems = nullptr) {
  auto recipe = Recipe::Parse(toml, "r.toml");
  EXPECT_TRUE(recipe.ok());
  const ObjectiveOptions options = ReadObjective(recipe->Root().Table("objective"));
  const Result<void> finished = recipe->Finish();
  if (problems != nullptr) *problems = finished.ok() ? "" : finished.error().message();
  if (problems == nullptr) {
    EXPECT_TRUE(finished.ok()) << (finished.ok() ? "" : finished.error().message());
  }
  return options;
}

TEST(ObjectiveOptions, NamesHaveTheSettingsOfTheirPapers) {
  const ObjectiveOptions dapo = Read("[objective]\nloss = 'dapo'\n");
  EXPECT_EQ(dapo.clip_low, 0.2);
  EXPECT_EQ(dapo.clip_high, 0.28);
  EXPECT_EQ(dapo.dual_clip, 10);
  EXPECT_EQ(dapo.aggregation, Aggregation::kTokenMean);
  const ObjectiveOptions gspo = Read("[objective]\nloss = 'gspo'\n");
  EXPECT_EQ(gspo.policy, PolicyLoss::kSequenceClip);
  EXPECT_EQ(gspo.clip_high, 4e-4);
  EXPECT_EQ(gspo.aggregation, Aggregation::kSequenceMean);
  EXPECT_EQ(Read("").name, "ppo");
  for (const std::string& name : ObjectiveNames()) {
    EXPECT_EQ(ObjectiveNamed(name).name, name);
    EXPECT_FALSE(ObjectiveNamed(name).NeedsReference()) << name << ": KL is said, never assumed";
  }
}

TEST(ObjectiveOptions, WhatIsSaidOverridesTheName) {
  const ObjectiveOptions options = Read(R"(
[objective]
loss = "dr-grpo"
clip_low = 0.1
clip_high = 0.3
dual_clip = 0
ratio = "turn"
aggregation = "seq-mean-token-sum-norm"
norm_length = 256
entropy = 0.01
low_probability = 0.001
temperature_up = 2.0
temperature_down = 3.0
[objective.covariance]
share = 0.1
lower = 2
upper = 60
kl_coefficient = 0.5
[objective.kl]
coefficient = 0.001
estimator = "k1+"
unbiased = true
target = 0.1
horizon = 500
[objective.value]
coefficient = 0.5
clip = 0
[objective.correction]
kind = "mask"
sequence = true
cap = 3
two_sided = true
normalise = true
veto = 1e-4
)");
  EXPECT_EQ(options.clip_low, 0.1);
  EXPECT_EQ(options.clip_high, 0.3);
  EXPECT_EQ(options.dual_clip, 0);
  EXPECT_EQ(options.ratio, RatioLevel::kTurn);
  EXPECT_EQ(options.aggregation, Aggregation::kSequenceSumConstant);
  EXPECT_EQ(options.norm_length, 256);
  EXPECT_EQ(options.entropy, 0.01);
  EXPECT_EQ(options.low_probability, 0.001);
  EXPECT_EQ(options.temperature_up, 2);
  EXPECT_EQ(options.temperature_down, 3);
  EXPECT_EQ(options.covariance.upper, 60);
  EXPECT_EQ(options.covariance.kl_coefficient, 0.5);
  EXPECT_EQ(options.kl.estimator, KlEstimator::kK1);
  EXPECT_TRUE(options.kl.straight_through);
  EXPECT_TRUE(options.kl.unbiased);
  EXPECT_EQ(options.kl.place, KlPlace::kLoss);
  EXPECT_EQ(options.kl.target, 0.1);
  EXPECT_EQ(options.kl.horizon, 500);
  EXPECT_TRUE(options.NeedsReference());
  EXPECT_TRUE(options.NeedsCritic());
  EXPECT_EQ(options.value.clip, 0);
  EXPECT_EQ(options.correction.kind, CorrectionOptions::Kind::kMask);
  EXPECT_TRUE(options.correction.sequence && options.correction.two_sided);
  EXPECT_EQ(options.correction.veto, 1e-4);
  EXPECT_EQ(Read("[objective.kl]\nplace = 'reward'\n").kl.place, KlPlace::kReward);
}

TEST(ObjectiveOptions, EverythingThatIsWrongIsSaidAtOnce) {
  std::string problems;
  Read(R"(
[objective]
loss = "gspo"
ratio = "turn"
dual_clip = 0.5
aggregation = "seq-mean-token-sum-norm"
entropi = 1
[objective.kl]
target = 1
estimator = "k4"
[objective.correction]
cap = 0.5
)",
       &problems);
  for (const char* word :
       {"ratio of its own", "dual_clip", "norm_length", "entropi", "target", "estimator", "cap"}) {
    EXPECT_NE(problems.find(word), std::string::npos) << word << "\n" << problems;
  }
  Read("[objective]\nloss = 'popo'\n", &problems);
  EXPECT_NE(problems.find("loss"), std::string::npos);
}

// verl (algorithm.kl_penalty) and TRL's RLOO take k1 off the reward; in the loss its expected
// gradient is 0.
TEST(ObjectiveOptions, InTheRewardTheKlIsK1UnlessSomethingElseIsSaid) {
  const auto of = [](const std::string& kl) {
    auto recipe = Recipe::Parse("[kl]\ncoefficient = 0.1\n" + kl, "r.toml");
    const ObjectiveOptions options = ReadObjective(recipe->Root());
    EXPECT_TRUE(recipe->Finish().ok());
    return options.kl.estimator;
  };
  EXPECT_EQ(of(""), KlEstimator::kK3);
  EXPECT_EQ(of("place = \"reward\"\n"), KlEstimator::kK1);
  EXPECT_EQ(of("place = \"reward\"\nestimator = \"k2\"\n"), KlEstimator::kK2);
}

}  // namespace
}  // namespace hone
