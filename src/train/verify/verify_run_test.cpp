#include "train/verify/verify_run.h"

#include <cmath>

#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "base/file.h"
#include "support/planted.h"
#include "support/stop_after.h"
#include "support/tiny_recipe.h"

namespace hone {
namespace {

// A tiny run (60 steps of imitation, 4 of rl), to be derived again.
class VerifyRunTest : public testing::Test {
 protected:
  void Make(std::vector<std::string> overrides = {}) {
    overrides.insert(overrides.begin(),
                     {"run.store_groups=-1", "stage.0.demonstrator=gold", "stage.0.steps=120"});
    const auto report = Train(ReadTiny(out_.path(), overrides).value(), {});
    ASSERT_TRUE(report.ok()) << report.error().message();
  }
  std::filesystem::path run() const { return out_.path() / "tiny"; }
  std::filesystem::path checkpoint(int64_t step) const { return CheckpointIn(run(), step); }

  Verification Verify(const VerifyOptions& options = {}) const {
    Result<Verification> verification = VerifyRun(run(), options);
    EXPECT_TRUE(verification.ok()) << verification.error().message();
    if (!verification.ok()) return {};
    for (const RunDifference& one : verification->differences) {
      last_ += one.Text() + " derived " + one.derived + " stored " + one.stored + "\n";
    }
    return *verification;
  }
  // The first difference; one that says nothing where there is none.
  RunDifference Difference(const VerifyOptions& options = {}) const {
    const Verification verification = Verify(options);
    EXPECT_FALSE(verification.passed());
    return verification.differences.empty() ? RunDifference{} : verification.differences[0];
  }

  const TemporaryDirectory out_;
  mutable std::string last_;  // differences, in words
};

TEST_F(VerifyRunTest, ARunIsTheSameWhenItIsDerivedAgain) {
  Make();
  const Verification all = Verify();
  EXPECT_TRUE(all.passed()) << last_;
  EXPECT_EQ(all.first_step, 0);
  EXPECT_EQ(all.end_step, 124);
  EXPECT_EQ(all.equal.steps, 5) << "imitation is in the cache";
  EXPECT_EQ(all.equal.steps, all.stored.steps);
  EXPECT_EQ(all.equal.groups, 16);
  EXPECT_EQ(all.equal.groups, all.stored.groups);
  EXPECT_EQ(all.equal.trajectories, all.stored.trajectories);
  EXPECT_EQ(all.equal.tokens, all.stored.tokens);
  EXPECT_EQ(all.equal.checkpoints, all.stored.checkpoints);
  EXPECT_GE(all.equal.checkpoints, 2);
  EXPECT_GT(all.equal.weights, 20'000);
  EXPECT_GT(all.equal.rewards, 0);
  EXPECT_GT(all.equal.advantages, 0);
  EXPECT_GT(all.equal.numbers, 4 * 30);
}

TEST_F(VerifyRunTest, ImitationIsDerivedFromTheSeedAsWell) {
  Make();
  const Verification fresh = Verify({.fresh = true});
  EXPECT_TRUE(fresh.passed());
  EXPECT_EQ(fresh.equal.steps, 124) << "from the cache imitation counts as one";
}

TEST_F(VerifyRunTest, BeginsAtACheckpointWhereThatIsAsked) {
  Make();
  const Verification late = Verify({.from = 123});
  EXPECT_TRUE(late.passed());
  EXPECT_EQ(late.first_step, 123);
  EXPECT_EQ(late.equal.steps, 1);
  EXPECT_EQ(late.equal.groups, 4);
  EXPECT_NE(late.begun_with.find("step-123"), std::string::npos);
  EXPECT_FALSE(late.notes.empty()) << "what was not verified is said";
  const Verification early = Verify({.to = 122});
  EXPECT_TRUE(early.passed());
  EXPECT_EQ(early.equal.groups, 8);
}

TEST_F(VerifyRunTest, OneBitOfTheWeightsIsFound) {
  Make();
  FlipBit(checkpoint(123) / "model.safetensors", 1, 0);
  const RunDifference model = Difference();
  EXPECT_EQ(model.step, 122);
  EXPECT_EQ(model.what, "checkpoint");
  EXPECT_EQ(model.name, "step-123");
  EXPECT_NE(model.place.find("checkpoints/step-123/model.safetensors, "), std::string::npos);
  EXPECT_NE(model.place.find(", bit 8"), std::string::npos) << model.place;
}

TEST_F(VerifyRunTest, OneBitOfTheMasterWeightsOrTheOptimiserIsFound) {
  Make();
  FlipBit(checkpoint(124) / "training_state.safetensors", 40, 3);
  const RunDifference state = Difference();
  EXPECT_EQ(state.step, 123);
  EXPECT_NE(state.place.find("training_state.safetensors, "), std::string::npos) << state.place;
  EXPECT_NE(state.place.find(", bit "), std::string::npos) << state.place;
}

TEST_F(VerifyRunTest, WeightsThatItBeginsWithShowInWhatTheyDraw) {
  Make();
  // The highest bit of the mantissa of a weight of the checkpoint that it begins at.
  FlipBit(checkpoint(123) / "training_state.safetensors", 2, 6);
  const RunDifference first = Difference({.from = 123});
  EXPECT_EQ(first.step, 123);
}

TEST_F(VerifyRunTest, OneBitOfATokenIsFound) {
  Make();
  const auto trees = RunStore::OpenForReading(run() / "store.sqlite").value()->ListTrees().value();
  const RunStore::TreeSummary& tree = trees.at(6);  // of the second step
  FlipToken(run(), tree.id, 1, 2);
  const RunDifference token = Difference();
  EXPECT_EQ(token.step, 121);
  EXPECT_EQ(token.what, "group");
  EXPECT_EQ(token.tree, tree.id);
  EXPECT_EQ(token.name, tree.task);
  EXPECT_EQ(token.part, "tokens");
  EXPECT_EQ(token.trajectory, 0);
  EXPECT_EQ(token.node, 1);
  EXPECT_EQ(token.index, 2);
  EXPECT_EQ(std::stoi(token.derived) ^ 1, std::stoi(token.stored));
}

TEST_F(VerifyRunTest, AChangedRewardAndAChangedAdvantageAreFound) {
  Make();
  {
    const auto store = RunStore::Open(run() / "store.sqlite").value();
    ScoredTree first = store->ReadTree(store->ListTrees().value().at(3).id).value();
    first.scores[2].terms[0].value = *first.scores[2].terms[0].value + 0.25;
    ASSERT_TRUE(store->SetScores(store->ListTrees().value().at(3).id, first.scores).ok());
    ScoredTree second = store->ReadTree(store->ListTrees().value().at(9).id).value();
    float& value = second.advantages[1].values.back();
    value = std::nextafter(value, 9.0f);
    ASSERT_TRUE(store->SetAdvantages(store->ListTrees().value().at(9).id, second.advantages).ok());
  }
  const Verification both = Verify({.keep_going = true});
  ASSERT_EQ(both.differences.size(), 2u);
  EXPECT_EQ(both.differences[0].step, 120);
  EXPECT_EQ(both.differences[0].part, "rewards");
  EXPECT_EQ(both.differences[0].trajectory, 2);
  EXPECT_EQ(both.differences[1].step, 122);
  EXPECT_EQ(both.differences[1].part, "advantages");
  EXPECT_EQ(both.differences[1].trajectory, 1);
  EXPECT_EQ(Verify().differences.size(), 1u) << "without --keep-going the first one";
}

TEST_F(VerifyRunTest, AChangedNumberOfTheLogIsFound) {
  Make();
  {
    const auto store = RunStore::Open(run() / "store.sqlite").value();
    const double loss = store->ReadMetric("loss").value().at(121);
    ASSERT_TRUE(store->AddMetrics(121, {{"loss", std::nextafter(loss, 9.0)}}).ok());
  }
  const RunDifference number = Difference();
  EXPECT_EQ(number.step, 121);
  EXPECT_EQ(number.what, "number");
  EXPECT_EQ(number.name, "loss");
}

TEST_F(VerifyRunTest, AChangedTokenizerIsFoundInTheRunAndInACheckpoint) {
  Make();
  for (const std::filesystem::path& folder : {run(), checkpoint(123)}) {
    const std::string before = ReadFile(folder / "tokenizer.json").value();
    std::string swapped = before;
    const size_t first = swapped.find("\"a\""), second = swapped.find("\"b\"");
    ASSERT_NE(first, std::string::npos);
    ASSERT_NE(second, std::string::npos);
    std::swap(swapped[first + 1], swapped[second + 1]);
    ASSERT_TRUE(WriteFileAtomic(folder / "tokenizer.json", swapped).ok());
    const RunDifference tokenizer = Difference();
    EXPECT_EQ(tokenizer.what, "tokenizer");
    EXPECT_EQ(run() / tokenizer.place, folder / "tokenizer.json");
    ASSERT_TRUE(WriteFileAtomic(folder / "tokenizer.json", before).ok());
  }
  EXPECT_TRUE(Verify().passed()) << last_;
}

TEST_F(VerifyRunTest, AChangedNumberOfTheFileThatTheDashboardReadsIsFound) {
  Make();
  std::string lines = ReadFile(run() / "metrics.jsonl").value();
  const size_t line = lines.find("{\"step\":121,");
  const size_t number = lines.find("\"success\":", line) + 10;
  lines.replace(number, lines.find_first_of(",}", number) - number, "0.987");
  ASSERT_TRUE(WriteFileAtomic(run() / "metrics.jsonl", lines).ok());
  const RunDifference found = Difference();
  EXPECT_EQ(found.step, 121);
  EXPECT_EQ(found.what, "number");
  EXPECT_EQ(found.name, "success");
  EXPECT_EQ(found.place, "metrics.jsonl, the number success");
  EXPECT_TRUE(found.stored.starts_with("0.987 ")) << found.stored;
}

TEST_F(VerifyRunTest, AChangedStepOrTotalOfACheckpointIsFound) {
  Make();
  const std::filesystem::path file = checkpoint(123) / "training.json";
  const Json before = ParseJson(ReadFile(file).value()).value();
  const auto with = [&](std::string_view key, Json value) {
    Json changed = before;
    changed.Set(key, std::move(value));
    EXPECT_TRUE(WriteFileAtomic(file, DumpJson(changed)).ok());
    const RunDifference difference = Difference();
    EXPECT_EQ(difference.step, 122);
    EXPECT_EQ(difference.part, "state");
    return difference.place;
  };
  EXPECT_EQ(with("step", 122), "checkpoints/step-123/training.json, step");
  Json totals = *before.Find("totals");
  totals.Set("sampled_tokens", 7.0);
  EXPECT_EQ(with("totals", totals), "checkpoints/step-123/training.json, totals/sampled_tokens");
}

TEST_F(VerifyRunTest, WhatListsOfTheStoreShowIsComparedToo) {
  for (const char* change : {"UPDATE trees SET task = 'other' WHERE id = 6",
                             "UPDATE scores SET mean_reward = 0.5 WHERE tree = 6"}) {
    std::filesystem::remove_all(run());
    Make();
    Plant(run(), change);
    const RunDifference listed = Difference();
    EXPECT_EQ(listed.tree, 6);
    EXPECT_EQ(listed.part, "list") << change;
  }
}

TEST_F(VerifyRunTest, ImitationInTheCacheThatIsNotWhatTheRunBeganWithIsFound) {
  Make();
  for (const auto& entry : std::filesystem::directory_iterator(out_.path() / "cache")) {
    if (!entry.is_directory()) continue;
    FlipBit(entry.path() / "training_state.safetensors", 1, 0);
  }
  const Verification damaged = Verify();
  EXPECT_TRUE(damaged.passed()) << "it is made again: " << last_;
  EXPECT_NE(fmt::format("{}", fmt::join(damaged.notes, " ")).find("it is not used"),
            std::string::npos);
  for (const auto& entry : std::filesystem::directory_iterator(out_.path() / "cache")) {
    if (!entry.is_directory()) continue;
    std::filesystem::remove(entry.path() / "checksums.json");  // as older programs wrote it
  }
  EXPECT_FALSE(Verify().passed());
  EXPECT_TRUE(Verify({.fresh = true}).passed());
}

TEST_F(VerifyRunTest, AMissingGroupAndADamagedOneAreFound) {
  Make({"run.store_groups=2"});
  EXPECT_TRUE(Verify().passed());
  {
    const auto store = RunStore::Open(run() / "store.sqlite").value();
    const ScoredTree again = store->ReadTree(1).value();
    ASSERT_TRUE(store->AddTree(121, again).ok());
  }
  const RunDifference more = Difference();
  EXPECT_EQ(more.step, 121);
  EXPECT_EQ(more.place, "number of groups");
  EXPECT_EQ(more.derived, "2");
  EXPECT_EQ(more.stored, "3");
}

TEST_F(VerifyRunTest, ARunThatWasInterruptedIsVerifiedAsFarAsItIs) {
  const auto stopped =
      Train(ReadTiny(out_.path(), {"run.store_groups=-1", "run.save_every=10"}).value(),
            StopAfter(62).options());
  ASSERT_FALSE(stopped.ok());
  const Verification part = Verify();
  EXPECT_TRUE(part.passed());
  EXPECT_LT(part.end_step, 64);
  EXPECT_GT(part.equal.groups, 0);
  EXPECT_EQ(part.equal.checkpoints, part.stored.checkpoints) << "also one that an interrupt left";
}

TEST_F(VerifyRunTest, LearnedSimulatorsCriticsAndReferencesAreDerivedToo) {
  Make({"simulator.kind=learned",
        "stage=[{kind='sft', steps=120, batch=8, learning_rate=0.01, warmup=5, "
        "demonstrator='gold'}, {kind='simulator', tasks=60, steps=60, batch=16, layers=1, "
        "width=32, heads=2, positions=128, learning_rate=0.01}, {kind='rl', steps=4, groups=4, "
        "group=4}]",
        "credit.method=gae-token", "objective.value.coefficient=0.5",
        "objective.kl.coefficient=0.01"});
  EXPECT_TRUE(Verify().passed()) << last_;
  EXPECT_TRUE(Verify({.from = 122}).passed()) << last_;
  EXPECT_TRUE(Verify({.fresh = true}).passed()) << last_;
}

TEST_F(VerifyRunTest, ARunThatWentBackIsDerivedWithAllItsDetours) {
  Make({"alarms.mode=apply", "rewards.weight=-1", "stage.0.steps=200", "stage.1.steps=14",
        "stage.1.learning_rate=0.003", "evaluation.every=3", "evaluation.dev_tasks=12",
        "run.save_every=2", "alarms.most_roll_backs=5"});
  const TrainingState state = ReadTrainingState(checkpoint(214)).value();
  EXPECT_FALSE(state.alarms.empty()) << "or nothing is tested";
  const Verification detours = Verify();
  EXPECT_TRUE(detours.passed()) << last_;
  EXPECT_EQ(detours.equal.groups, detours.stored.groups);
}

TEST_F(VerifyRunTest, ThePlanSaysWhatIsStoredAndComputesNothing) {
  Make();
  const Verification plan = PlanVerification(run(), {}).value();
  EXPECT_EQ(plan.stored.groups, 16);
  EXPECT_EQ(plan.stored.trajectories, 64);
  EXPECT_EQ(plan.equal.steps, 0);
}

TEST_F(VerifyRunTest, WhatIsNoRunIsRefusedWithWords) {
  const Result<Verification> none = PlanVerification(out_.path() / "nothing", {});
  ASSERT_FALSE(none.ok());
  EXPECT_NE(none.error().message().find("is not the folder of a run"), std::string::npos);
  Make();
  const Result<Verification> behind = PlanVerification(run(), {.from = 124});
  ASSERT_FALSE(behind.ok());
  EXPECT_NE(behind.error().message().find("nothing lies between"), std::string::npos);
}

}  // namespace
}  // namespace hone
