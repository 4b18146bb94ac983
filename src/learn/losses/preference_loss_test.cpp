#include "learn/losses/preference_loss.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "learn/sft.h"
#include "support/authors.h"
#include "support/tiny_training.h"

namespace hone {
namespace {

// Two ways on behind the same prompt.
std::vector<PreferencePair> Pairs(size_t count) {
  std::vector<PreferencePair> pairs;
  for (size_t i = 0; i < count; ++i) {
    Tree one = BranchingGroup(70 + i), other = one;
    one.leaves = {one.leaves[0]};
    other.leaves = {other.leaves[5]};
    pairs.push_back({ForImitation(one), ForImitation(other)});
  }
  return pairs;
}

std::vector<PairLogprobs> Asked(std::span<const PreferencePair> pairs, Engine* engine) {
  return PairLogprobsOf(pairs, engine->LogProbs(TreesOf(pairs)));
}

// TRL's own statements, on random numbers (tests/golden/rewards/README.md).
TEST(PreferenceLoss, IsTrls) {
  const Json golden =
      *ParseJson(*ReadFile(HONE_SOURCE_DIR "/tests/golden/rewards/preferences.json"));
  int64_t compared = 0;
  for (const Json& one : golden.AsArray()) {
    const PreferenceOptions options{.beta = NumberOf(one, "beta"),
                                    .label_smoothing = NumberOf(one, "label_smoothing")};
    const PreferenceTerm term =
        PreferenceTermOf(options, {NumberOf(one, "chosen"), NumberOf(one, "rejected")},
                         {NumberOf(one, "reference_chosen"), NumberOf(one, "reference_rejected")});
    EXPECT_TRUE(IsTheirs(term.loss, NumberOf(one, "loss"), 1e-9)) << DumpJson(one);
    EXPECT_TRUE(IsTheirs(term.chosen_reward, NumberOf(one, "chosen_reward"), 1e-9));
    EXPECT_TRUE(IsTheirs(term.rejected_reward, NumberOf(one, "rejected_reward"), 1e-9));
    ++compared;
  }
  EXPECT_GE(compared, 200);
}

TEST(PreferenceLoss, ItsDerivativeIsThatOfItsValue) {
  for (const double smoothing : {0.0, 0.1, 0.5}) {
    for (const double chosen : {-900.0, -40.0, -20.0, -3.0, 900.0}) {
      const PreferenceOptions options{.beta = 0.25, .label_smoothing = smoothing};
      const auto at = [&](double moved) {
        return PreferenceTermOf(options, {chosen + moved, -19}, {-21, -17});
      };
      const double difference = (at(1e-4).loss - at(-1e-4).loss) / 2e-4;
      EXPECT_NEAR(at(0).derivative, difference, 1e-6) << chosen << " " << smoothing;
      EXPECT_TRUE(std::isfinite(at(0).loss));
    }
  }
}

// At the reference nothing is preferred: the loss is log 2, and the first step raises the margin.
TEST(PreferenceLoss, LearnsFromTheReferenceOn) {
  Engine engine(TinyModel(), {.precision = Precision::kF32, .threads = 1});
  const std::vector<PreferencePair> pairs = Pairs(3);
  const std::vector<PairLogprobs> reference = Asked(pairs, &engine);
  PreferenceMetrics metrics;
  for (int step = 0; step < 20; ++step) {
    metrics = AccumulatePreferences({}, pairs, reference, &engine);
    if (step == 0) {
      EXPECT_NEAR(metrics.loss, std::log(2.0), 1e-6);
      EXPECT_NEAR(metrics.margin, 0, 1e-6);
      EXPECT_EQ(metrics.pairs, 3);
    }
    engine.Step({.learning_rate = 0.003, .weight_decay = 0});
  }
  EXPECT_LT(metrics.loss, 0.5);
  EXPECT_EQ(metrics.accuracy, 1);
  EXPECT_GT(metrics.margin, 0.3);
}

// d loss / d weights against differences of the loss, at weights away from the reference.
TEST(PreferenceLoss, TheGradientIsThatOfTheLoss) {
  const Model model = TinyModel();
  const std::vector<PreferencePair> pairs = Pairs(3);
  const PreferenceOptions options{.beta = 0.3, .label_smoothing = 0.1};
  Engine engine(Model(model), {.precision = Precision::kF32, .threads = 1});
  std::vector<PairLogprobs> reference = Asked(pairs, &engine);
  for (size_t i = 0; i < reference.size(); ++i) {
    reference[i].chosen += 1.5 * static_cast<double>(i);
    reference[i].rejected -= 2;
  }
  AccumulatePreferences(options, pairs, reference, &engine);
  const Gradients gradients = engine.TakeGradients();
  double squares = 0;
  for (const auto& part : gradients) {
    for (const float g : part) squares += static_cast<double>(g) * g;
  }
  ASSERT_GT(squares, 0);
  const auto loss_at = [&](double by) {
    Model moved = model;
    for (size_t p = 0; p < moved.parameters.size(); ++p) {
      for (size_t i = 0; i < gradients[p].size(); ++i) {
        moved.parameters[p].value[i] += static_cast<float>(by * gradients[p][i]);
      }
    }
    Engine there(std::move(moved), {.precision = Precision::kF32, .threads = 1});
    const std::vector<PairLogprobs> policy = Asked(pairs, &there);
    PreferenceMetrics metrics;
    for (size_t i = 0; i < pairs.size(); ++i) {
      metrics.Add(PreferenceTermOf(options, policy[i], reference[i]));
    }
    return metrics.loss;
  };
  const double step = 1e-3 / std::sqrt(squares);
  EXPECT_NEAR((loss_at(step) - loss_at(-step)) / (2 * step * squares), 1, 0.02);
}

TEST(PreferenceLoss, HowPairsArePackedDoesNotMatter) {
  const std::vector<PreferencePair> pairs = Pairs(4);
  const auto hash = [&](int64_t call_tokens) {
    Engine engine(TinyModel(), {.precision = Precision::kF32, .threads = 1});
    std::vector<PairLogprobs> reference = Asked(pairs, &engine);
    const PreferenceMetrics metrics =
        AccumulatePreferences({.call_tokens = call_tokens}, pairs, reference, &engine);
    engine.ForgetGradients();
    return std::pair(metrics.loss, metrics.tokens);
  };
  EXPECT_EQ(hash(1), hash(16'384));
}

}  // namespace
}  // namespace hone
