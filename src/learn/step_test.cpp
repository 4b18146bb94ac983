#include "learn/step.h"

#include <gtest/gtest.h>

#include "credit/methods.h"
#include "learn/dynamic_sampling.h"
#include "rewards/compose.h"
#include "support/tiny_context.h"

namespace hone {
namespace {

// Every function of the step alone, on a policy that has seen enough to call and to answer.
class StepTest : public testing::Test {
 protected:
  void Prepare(const std::vector<std::string>& overrides = {}) {
    tiny_ = std::make_unique<TinyContext>(overrides);
    const TrainingRecipe& recipe = tiny_->recipe;
    ASSERT_TRUE(tiny_->Imitate(60).ok());
    backend_ = Backend::ForTraining(recipe, tiny_->context->environment, "").value();
    rewarder_ = RewarderFromJson(recipe.rewards).value();
    curriculum_ = NewCurriculum(recipe.curriculum, tiny_->context->environment.tasks.get(),
                                Rng(1).Split("curriculum"))
                      .value();
  }
  TaskSupply Supply(bool elsewhere) const {
    TaskSupply supply{.environment = &tiny_->context->environment,
                      .curriculum = curriculum_.get()};
    if (elsewhere) {
      supply.ask = [this](std::span<const GoldQuestion> questions, const std::string& run) {
        return AskForGold(*tiny_->context->environment.environment, questions,
                          backend_->executor(), run);
      };
    }
    return supply;
  }
  static Round RoundOf(size_t groups, int64_t first = 0) {
    return {
        .step = 3, .first = first, .groups = groups, .leaves = 4, .scope = "1-3", .rng = Rng(7)};
  }
  Rollout NewRollout() const {
    const TrainingRecipe& recipe = tiny_->recipe;
    RolloutOptions options = recipe.rollout.options;
    options.in_earnest = false;
    return Rollout::New(options, tiny_->context->environment.environment.get(),
                        tiny_->context->PolicyAt(1, 3).value(), recipe.rollout.strategy.get(),
                        backend_->executor())
        .value();
  }
  DrawnGroups Drawn(size_t groups) const {
    return DrawGroups(NewRollout(), PoseTasks(Supply(true), RoundOf(groups)).value()).value();
  }
  ScoredGroups Scored(size_t groups) const {
    return ScoreGroups({.rewarder = rewarder_.get(), .kind_by = "family"}, Drawn(groups)).value();
  }

  std::unique_ptr<TinyContext> tiny_;
  std::unique_ptr<Backend> backend_;
  std::unique_ptr<Rewarder> rewarder_;
  std::unique_ptr<Curriculum> curriculum_;
};

TEST_F(StepTest, TasksArePosedWithWhatIsRightInTheWorldThatAnswers) {
  Prepare();
  const PosedTasks real = PoseTasks(Supply(false), RoundOf(4)).value();
  Prepare();
  const PosedTasks elsewhere = PoseTasks(Supply(true), RoundOf(4)).value();
  ASSERT_EQ(real.requests.size(), 4u);
  ASSERT_EQ(elsewhere.requests.size() + static_cast<size_t>(elsewhere.voids), 4u);
  EXPECT_EQ(real.asked, 4);
  int64_t other = 0;
  for (size_t i = 0; i < elsewhere.requests.size(); ++i) {
    EXPECT_EQ(elsewhere.requests[i].leaves, 4);
    EXPECT_TRUE(elsewhere.requests[i].scope.starts_with("1-3/"));
    other += elsewhere.requests[i].task.answer != real.requests[i].task.answer ? 1 : 0;
  }
  EXPECT_GT(other, 0) << "a simulator by chance gives other answers than the real tools";
}

TEST_F(StepTest, ALaterRoundHasOtherSeedsAndNames) {
  Prepare();
  const PosedTasks first = PoseTasks(Supply(false), RoundOf(2)).value();
  const PosedTasks later = PoseTasks(Supply(false), RoundOf(2, 2)).value();
  EXPECT_EQ(later.requests[0].scope, "1-3/2");
  EXPECT_NE(later.requests[0].seed, first.requests[0].seed);
}

TEST_F(StepTest, WhatIsDrawnIsScoredAndMeasured) {
  Prepare();
  const DrawnGroups drawn = Drawn(3);
  ASSERT_EQ(drawn.records.size(), drawn.numbers.size());
  EXPECT_EQ(drawn.asked, 3);
  for (const ScoredTree& record : drawn.records) EXPECT_TRUE(record.scores.empty());
  const ScoredGroups scored = Scored(3);
  EXPECT_EQ(scored.records.size(), 3u) << "those that are missing have empty places";
  size_t leaves = 0;
  for (const ScoredTree& record : scored.records) {
    EXPECT_EQ(record.scores.size(), record.tree.leaves.size());
    leaves += record.tree.leaves.size();
  }
  EXPECT_EQ(scored.measures.size(), leaves);
  EXPECT_EQ(scored.Values("total").size(), 3u);
  EXPECT_FALSE(scored.outcomes.empty());
}

TEST_F(StepTest, AlarmsScaleRewardsByTheNameOfTheirTerm) {
  Prepare();
  const ScoringOptions plan{.rewarder = rewarder_.get(), .kind_by = "family"};
  ScoringOptions halved = plan;
  halved.reward_scale = {{"outcome", 0.5}};
  const DrawnGroups drawn = Drawn(2);
  const ScoredGroups whole = ScoreGroups(plan, drawn).value();
  const ScoredGroups half = ScoreGroups(halved, drawn).value();
  int64_t compared = 0;
  for (size_t i = 0; i < whole.records.size(); ++i) {
    for (size_t leaf = 0; leaf < whole.records[i].scores.size(); ++leaf) {
      const auto& terms = whole.records[i].scores[leaf].terms;
      for (size_t t = 0; t < terms.size(); ++t) {
        const double scale = terms[t].name == "outcome" ? 0.5 : 1;
        EXPECT_EQ(half.records[i].scores[leaf].terms[t].weight, terms[t].weight * scale);
        ++compared;
      }
    }
  }
  EXPECT_GT(compared, 0);
}

TEST_F(StepTest, APoolMeasuresTheSameInTheSameOrder) {
  Prepare();
  ThreadPool pool(3);
  ScoringOptions alone{.rewarder = rewarder_.get(), .kind_by = "family"}, together = alone;
  together.pool = &pool;
  const DrawnGroups drawn = Drawn(5);
  const ScoredGroups one = ScoreGroups(alone, drawn).value();
  const ScoredGroups many = ScoreGroups(together, drawn).value();
  ASSERT_EQ(one.measures.size(), many.measures.size());
  for (size_t i = 0; i < one.measures.size(); ++i) {
    EXPECT_EQ(one.measures[i].success, many.measures[i].success);
    EXPECT_EQ(one.measures[i].counts, many.measures[i].counts);
  }
  EXPECT_EQ(one.Values("total"), many.Values("total"));
}

TEST_F(StepTest, RoundsAddUp) {
  Prepare();
  ScoredGroups all = Scored(2);
  const ScoredGroups round = all;
  all.Append(round);
  EXPECT_EQ(all.records.size(), 4u);
  EXPECT_EQ(all.asked, 4);
  EXPECT_EQ(all.measures.size(), 2 * round.measures.size());
  EXPECT_EQ(all.counts.leaves, 2 * round.counts.leaves);
}

TEST_F(StepTest, ChosenRecordsComeInOrderAndOneMayComeTwice) {
  Prepare();
  const ScoredGroups scored = Scored(3);
  std::vector<ScoredTree> records = scored.records;
  records.resize(4);  // the last one is not there
  const std::vector<ScoredTree> chosen = Choose(records, {2, 0, 2, 3});
  std::vector<std::string> wanted;
  for (const size_t i : {2, 0, 2}) {
    if (!records[i].tree.leaves.empty()) wanted.push_back(records[i].tree.task.id);
  }
  ASSERT_EQ(chosen.size(), wanted.size());
  for (size_t i = 0; i < chosen.size(); ++i) {
    EXPECT_EQ(chosen[i].tree.task.id, wanted[i]);
    EXPECT_FALSE(chosen[i].tree.leaves.empty());
  }
}

TEST_F(StepTest, CreditIsAssignedAndTheKlIsARewardWhereThePlanSaysSo) {
  Prepare();
  ScoredGroups scored = Scored(3);
  const std::vector<ScoredTree> records = Choose(std::move(scored.records), {0, 1, 2});
  Engine* engine = tiny_->context->engine.get();
  const LogprobsFunction reference = [&](std::span<const Tree> trees) {
    return engine->LogProbs(trees);
  };
  const ModelViews views = AskModels(records, {.reference = reference});
  ASSERT_EQ(views.reference.size(), records.size());
  EXPECT_TRUE(views.now.empty());
  EXPECT_TRUE(views.values.empty());
  const CreditOptions plan{.method = NewMethod("toolpo").value()};
  const CreditedGroups credited = CreditGroups(plan, records, views).value();
  ASSERT_EQ(credited.credits.size(), records.size());
  for (size_t i = 0; i < records.size(); ++i) {
    EXPECT_EQ(credited.records[i].advantages.size(), records[i].tree.leaves.size());
    EXPECT_EQ(credited.records[i].scores[0].terms.size(), records[i].scores[0].terms.size());
  }
  CreditOptions penalised = plan;
  penalised.kl = {.coefficient = 0.1, .place = KlPlace::kReward};
  const CreditedGroups less = CreditGroups(penalised, records, views).value();
  EXPECT_GT(less.records[0].scores[0].terms.size(), records[0].scores[0].terms.size());

  const auto groups = TrainingGroupsOf(plan.method, credited).value();
  ASSERT_FALSE(groups.empty());
  EXPECT_FALSE(groups[0].sequences[0].reference.empty());
  EXPECT_TRUE(groups[0].sequences[0].returns.empty()) << "nobody asked a critic";
}

// Two leaves that agree in their totals and not in their terms, as with verl's
// filter_groups.metric.
TEST(ScoredGroups, GroupsAreToldApartByTheTotalATermOrSuccess) {
  ScoredGroups scored;
  ScoredTree record;
  record.tree.leaves.resize(3);
  record.scores = {{0, {{"outcome", 1.0}, {"call", -0.5, 2.0}}},
                   {1, {{"outcome", 0.0}, {"call", 0.5}, {"call", -0.5}}},
                   {2, {{"outcome", std::nullopt}}}};
  scored.records = {ScoredTree(), record};  // the first group is not there
  scored.measures.resize(3);
  scored.measures[0].success = true;
  scored.measures[1].success = false;
  scored.measures[2].success = true;
  scored.measures[2].counts = false;
  using Values = std::vector<std::vector<double>>;
  EXPECT_EQ(scored.Values("total"), (Values{{}, {0, 0}}));
  EXPECT_EQ(scored.Values("outcome"), (Values{{}, {1, 0}}));
  EXPECT_EQ(scored.Values("call"), (Values{{}, {-1, 0}}));
  EXPECT_EQ(scored.Values("success"), (Values{{}, {1, 0}}));

  const auto kept = [&](const char* metric) {
    DynamicSampler sampler({.on = true}, 2);
    sampler.Add(scored.Values(metric));
    return sampler.kept();
  };
  EXPECT_EQ(kept("total"), 0u);
  EXPECT_EQ(kept("outcome"), 1u);
  EXPECT_EQ(kept("success"), 1u);
}

}  // namespace
}  // namespace hone
