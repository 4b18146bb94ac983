#include "learn/losses/policy_loss.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/rng.h"

namespace hone {
namespace {

PolicyOutput Of(const ObjectiveOptions& options, const std::vector<float>& logprobs,
                const std::vector<float>& old, const std::vector<float>& advantages,
                const std::vector<char>& chosen = {}, const std::vector<Span>& turns = {}) {
  const std::vector<double> weights(logprobs.size(), 1.0 / static_cast<double>(logprobs.size()));
  return PolicyLossOf(options, {logprobs, old, advantages, weights, 1, turns, chosen});
}

float Log(double x) { return static_cast<float>(std::log(x)); }

// Worked out by hand from the papers' formulas.
TEST(PolicyLoss, PublishedVectors) {
  const ObjectiveOptions ppo = ObjectiveNamed("ppo");
  const PolicyOutput dual = Of(ppo, {Log(5)}, {0}, {-1});
  EXPECT_NEAR(dual.loss, 3, 1e-6) << "dual clip";
  EXPECT_EQ(dual.derivatives[0], 0);
  EXPECT_EQ(dual.clipped, 1);

  ObjectiveOptions gspo = ObjectiveNamed("gspo");
  gspo.clip_low = gspo.clip_high = 1;
  EXPECT_NEAR(Of(gspo, {0.01f, -0.02f, 0.03f}, {0, 0, 0}, {1, 1, 1}).loss, -1.006689, 1e-6);
}

TEST(PolicyLoss, TheFirstPassHasTheMeanAdvantageAsItsLossAndIsNotFlat) {
  for (const char* name : {"ppo", "dapo", "gspo", "clip-cov", "kl-cov"}) {
    const PolicyOutput output = Of(ObjectiveNamed(name), {-1, -2}, {-1, -2}, {3, -1});
    EXPECT_NEAR(output.loss, -1, 1e-12) << name;
    EXPECT_NEAR(output.derivatives[0], -1.5, 1e-12) << name;
    EXPECT_NEAR(output.derivatives[1], 0.5, 1e-12) << name;
    EXPECT_EQ(output.clipped, 0) << name;
  }
}

TEST(PolicyLoss, ClipsOnTheSideThatPays) {
  const ObjectiveOptions dapo = ObjectiveNamed("dapo");
  struct Case {
    double ratio, advantage, loss, derivative;
  };
  for (const Case& c :
       {Case{1.27, 1, -1.27, -1.27}, Case{1.3, 1, -1.28, 0}, Case{0.5, 1, -0.5, -0.5},
        Case{0.7, -1, 0.8, 0}, Case{1.5, -1, 1.5, 1.5}, Case{12, -1, 10, 0}}) {
    const PolicyOutput output = Of(dapo, {Log(c.ratio)}, {0}, {static_cast<float>(c.advantage)});
    EXPECT_NEAR(output.loss, c.loss, 1e-5) << c.ratio;
    EXPECT_NEAR(output.derivatives[0], c.derivative, 1e-5) << c.ratio;
    EXPECT_EQ(output.clipped, c.derivative == 0 ? 1 : 0) << c.ratio;
  }
}

TEST(PolicyLoss, CispoClipsTheWeightAndKeepsTheGradient) {
  const ObjectiveOptions cispo = ObjectiveNamed("cispo");
  const PolicyOutput output = Of(cispo, {Log(8) - 3}, {-3}, {2});
  EXPECT_NEAR(output.derivatives[0], -5 * 2, 1e-5) << "weights up to 5";
  EXPECT_NEAR(output.loss, -5 * 2 * (std::log(8.0) - 3), 1e-4);
  EXPECT_NEAR(Of(cispo, {Log(0.01)}, {0}, {1}).derivatives[0], -0.01, 1e-6) << "no lower bound";
}

TEST(PolicyLoss, SapoIsTheRatioNearOne) {
  const PolicyOutput at_one = Of(ObjectiveNamed("sapo"), {-2}, {-2}, {1});
  EXPECT_NEAR(at_one.loss, -2, 1e-12) << "4 sigma(0) / 1";
  EXPECT_NEAR(at_one.derivatives[0], -1, 1e-12);
  const PolicyOutput down = Of(ObjectiveNamed("sapo"), {Log(3)}, {0}, {-1});
  const double sigmoid = 1 / (1 + std::exp(-1.05 * 2));
  EXPECT_NEAR(down.loss, 4 / 1.05 * sigmoid, 1e-5);
  EXPECT_NEAR(down.derivatives[0], 4 * sigmoid * (1 - sigmoid) * 3, 1e-5);
}

TEST(PolicyLoss, GmpoClampsEachTokenOnTheSideThatPays) {
  // exp of the mean of 0.1 and 0.4 (of 0.9): 1.2840254.
  const PolicyOutput up = Of(ObjectiveNamed("gmpo"), {0.1f, 0.9f}, {0, 0}, {1, 1});
  EXPECT_NEAR(up.loss, -1.2840254, 1e-6);
  EXPECT_NEAR(up.derivatives[0], -1.2840254 / 2, 1e-6);
  EXPECT_EQ(up.derivatives[1], 0);
  EXPECT_EQ(up.clipped, 1);
  // A negative advantage clamps what has fallen: max(-0.9, -0.4).
  const PolicyOutput down = Of(ObjectiveNamed("gmpo"), {0.9f, -0.9f}, {0, 0}, {-1, -1});
  EXPECT_NEAR(down.loss, std::exp(0.25), 1e-6);
  EXPECT_EQ(down.derivatives[1], 0);
}

TEST(PolicyLoss, RatiosOfTurnsAndTrajectoriesAreProducts) {
  ObjectiveOptions loop = ObjectiveNamed("loop");
  loop.clip_low = loop.clip_high = 0.9;
  loop.ratio = RatioLevel::kTurn;
  const std::vector<float> d = {0.1f, 0.2f, -0.3f};
  const PolicyOutput turns = Of(loop, d, {0, 0, 0}, {1, 1, 1}, {}, {{0, 2}, {2, 3}});
  EXPECT_NEAR(turns.derivatives[0], -std::exp(0.3) / 3, 1e-6);
  EXPECT_NEAR(turns.derivatives[1], -std::exp(0.3) / 3, 1e-6);
  EXPECT_NEAR(turns.derivatives[2], -std::exp(-0.3) / 3, 1e-6);
  EXPECT_NEAR(turns.loss, -(std::exp(0.3) + std::exp(-0.3)) / 3, 1e-6) << "each turn once";
  loop.ratio = RatioLevel::kTrajectory;
  const PolicyOutput whole = Of(loop, d, {0, 0, 0}, {1, 1, 1});
  for (const double derivative : whole.derivatives) EXPECT_NEAR(derivative, -1.0 / 3, 1e-6);
}

TEST(PolicyLoss, CovarianceLossesTreatTheChosen) {
  const PolicyOutput clip = Of(ObjectiveNamed("clip-cov"), {-1, -1}, {-1, -1}, {1, 1}, {1, 0});
  EXPECT_EQ(clip.derivatives[0], 0);
  EXPECT_EQ(clip.derivatives[1], -0.5);
  EXPECT_NEAR(clip.loss, -0.5, 1e-12);
  EXPECT_EQ(clip.clipped, 1);
  const PolicyOutput kl = Of(ObjectiveNamed("kl-cov"), {Log(2), Log(2)}, {0, 0}, {1, 1}, {1, 0});
  EXPECT_NEAR(kl.loss, -2 + std::log(2.0) / 2, 1e-6);
  EXPECT_NEAR(kl.derivatives[0], (-2 + 1) / 2.0, 1e-6);
  EXPECT_NEAR(kl.derivatives[1], -1, 1e-6) << "no clip at all";
}

TEST(PolicyLoss, HugeRatiosStayFinite) {
  for (const std::string& name : ObjectiveNames()) {
    for (const float advantage : {1.0f, -1.0f, 0.0f}) {
      const PolicyOutput output =
          Of(ObjectiveNamed(name), {-1e-3f, -80}, {-90, -1e-3f}, {advantage, advantage});
      EXPECT_TRUE(std::isfinite(output.loss)) << name;
      for (const double derivative : output.derivatives) {
        EXPECT_TRUE(std::isfinite(derivative)) << name;
      }
    }
  }
}

// Every loss that is a plain function of the log-probabilities, against differences of it. (CISPO's
// weight and what was chosen by covariance are held by definition; CISPO is tested above.)
TEST(PolicyLoss, DerivativesAreThoseOfTheLoss) {
  Rng rng(4);
  int moved = 0;
  for (const std::string& name : ObjectiveNames()) {
    if (name == "cispo") continue;
    for (int round = 0; round < 60; ++round) {
      ObjectiveOptions options = ObjectiveNamed(name);
      if (name == "loop") options.ratio = static_cast<RatioLevel>(round % 3);
      const size_t count = 1 + rng.Below(6);
      const auto advantage = static_cast<float>(rng.NextNormal());
      const double spread = name == "gspo" ? 3e-4 : 0.25;
      std::vector<float> logprobs, old;
      std::vector<char> chosen;
      for (size_t t = 0; t < count; ++t) {
        logprobs.push_back(static_cast<float>(-2 * rng.NextDouble()));
        old.push_back(logprobs.back() + static_cast<float>(spread * rng.NextNormal()));
        chosen.push_back(rng.Below(2) == 0);
      }
      const std::vector<float> advantages(count, advantage);
      const auto half = static_cast<int32_t>(count / 2), all = static_cast<int32_t>(count);
      const std::vector<Span> turns = {{0, half}, {half, all}};
      auto at = [&](const std::vector<float>& lp) {
        return Of(options, lp, old, advantages, chosen, turns);
      };
      const PolicyOutput output = at(logprobs);
      for (size_t t = 0; t < count; ++t) {
        std::vector<float> up = logprobs, down = logprobs;
        const float step = name == "gspo" ? 2e-5f : 1e-3f;
        up[t] += step;
        down[t] -= step;
        const double width = static_cast<double>(up[t]) - static_cast<double>(down[t]);
        const PolicyOutput above = at(up), below = at(down);
        if (above.clipped != below.clipped) continue;  // across a corner
        const double difference = (above.loss - below.loss) / width;
        EXPECT_NEAR(output.derivatives[t], difference, 2e-3 * std::max(1.0, std::abs(difference)))
            << name << " round " << round << " token " << t;
        moved += output.derivatives[t] != 0;
      }
    }
  }
  EXPECT_GT(moved, 1000);
}

}  // namespace
}  // namespace hone
