#include "rewards/presets.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "base/rng.h"
#include "record/validate.h"
#include "support/random_record.h"
#include "support/tree_maker.h"

namespace hone {
namespace {

TEST(Presets, AnUnknownNameIsAnErrorThatHelps) {
  const auto preset = NewPreset("toolrll");
  ASSERT_FALSE(preset.ok());
  EXPECT_NE(preset.error().message().find("did you mean \"toolrl\""), std::string::npos);
}

TEST(Presets, EveryOneGivesOnlyTheTermsItNames) {
  for (const Preset& preset : BuiltInPresets()) {
    for (uint64_t seed = 0; seed < 60; ++seed) {
      ScoredTree record = RandomRecord(Rng(seed));
      record.tree.task.reward = *ParseJson(
          R"({"calls": [{"name": "f", "arguments": {"x": 1}}], "milestones": [{"name": "goal"}]})");
      record.tree.task.metadata = Json();
      record.tree.task.answer = "x";
      const auto scores = NewPreset(preset.name).value()->ScoreTree(record.tree, {});
      ASSERT_TRUE(scores.ok()) << preset.name << scores.error().message();
      record.scores = *scores;
      EXPECT_EQ(Validate(record), std::vector<std::string>()) << preset.name;
      for (const Score& score : record.scores) {
        for (const RewardTerm& term : score.terms) {
          EXPECT_NE(std::find(preset.terms.begin(), preset.terms.end(), term.name),
                    preset.terms.end())
              << preset.name << ": " << term.name;
        }
      }
    }
  }
}

// An outcome that nobody can know is missing, in every reward that pays one.
TEST(Presets, WithoutAGoldAnswerNoOutcomeIsPaid) {
  for (const Preset& preset : BuiltInPresets()) {
    TreeMaker maker;
    maker.Begin().Call("f").Answer("x");
    const auto scores = NewPreset(preset.name).value()->ScoreTree(maker.tree, {}).value();
    for (const RewardTerm& term : scores[0].terms) {
      EXPECT_NE(term.name, "outcome") << preset.name;
    }
  }
}

TEST(Presets, ABlendThatIsNoneIsRefused) {
  PresetOptions options;
  options.panels["outcome"] = {Panel::Mode::kBlend, nullptr, nullptr, 0.5, 0.5, 0.5, 0};
  EXPECT_FALSE(NewPreset("default", options).ok());
}

}  // namespace
}  // namespace hone
