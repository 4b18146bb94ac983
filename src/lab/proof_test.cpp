#include "lab/proof.h"

#include <cmath>

#include <gtest/gtest.h>

#include "support/proof_runs.h"

namespace hone {
namespace {

ProofRuns TwoLengths() {
  return ProofRuns({{2, {800, 400, 900, 450, 800, 500}}, {4, {3000, 1000, 0, 1100, 3000, 1500}}});
}

TEST(Proof, HasTheMediansTheRatiosAndTheLaboratory) {
  ProofRuns made = TwoLengths();
  // Methods are found by their names.
  std::swap(made.predictions[0].methods[0], made.predictions[0].methods[2]);
  const Proof proof = MakeProof(made.sections, made.predictions).value();
  ASSERT_EQ(proof.rows.size(), 2u);
  const ProofRow& two = proof.rows[0];
  EXPECT_EQ(two.length, 2);
  EXPECT_EQ(two.Predicted(ProofRole::kSmearedReal, ProofRole::kAttributedReal, false), 1.5);
  EXPECT_EQ(two.Predicted(ProofRole::kPlacebo, ProofRole::kAttributedReal, false), 2.0);
  EXPECT_DOUBLE_EQ(*two.Predicted(ProofRole::kPlacebo, ProofRole::kAttributedReal, true),
                   std::sqrt(2.0));
  EXPECT_EQ(two.Predicted(ProofRole::kSmearedReal, ProofRole::kSmearedSimulated, true), 1.0);
  EXPECT_EQ(two.Predicted(ProofRole::kAttributedReal, ProofRole::kFlipped, false), std::nullopt);
  ASSERT_EQ(two.effects.size(), 8u);
  ASSERT_TRUE(two.effects[0].ratio);
  EXPECT_NEAR(two.effects[0].ratio->value, 2, 0.2);
  EXPECT_FALSE(two.effects[0].ratio->NoEffectShown());
  EXPECT_EQ(two.effects[0].race->a_first, 6) << "attributed was first with every seed";
  EXPECT_NEAR(two.effects[3].ratio->value, 400.0 / 450, 0.1);
  // Smeared credit with simulated tools never got there.
  const ProofRow& four = proof.rows[1];
  const auto simulated = static_cast<size_t>(ProofRole::kSmearedSimulated);
  EXPECT_TRUE(four.reached[simulated]->later);
  EXPECT_TRUE(four.effects[1].ratio->at_least);
}

TEST(Proof, APredictionForAnotherGoalIsNotDrawnBesideThisOne) {
  ProofRuns made = TwoLengths();
  made.predictions[0].goal = 0.9;
  made.predictions[1].methods.pop_back();
  for (const ProofRow& row : MakeProof(made.sections, made.predictions).value().rows) {
    EXPECT_EQ(row.Predicted(ProofRole::kSmearedReal, ProofRole::kPlacebo, false), std::nullopt);
  }
}

TEST(Proof, OverAllLengthsTestSuccessIsOfSeedsAndTasks) {
  ProofRuns made = TwoLengths();
  // All seeds are alike: what is left is which tasks there are.
  for (ComparedRun& run : made.runs) {
    Json test = *run.evaluations.Find("after/test/sampled");
    std::string outcomes(100, '0');
    for (size_t task = 0; task < 100; ++task) {
      if (task % 10 < (run.arm.starts_with("attributed") ? 5u : 3u)) outcomes[task] = '1';
    }
    test.Set("outcomes", outcomes);
    run.evaluations.Set("after/test/sampled", std::move(test));
  }
  const Proof proof = MakeProof(made.sections, made.predictions).value();
  const Difference& credit = proof.pooled[0].success;
  EXPECT_NEAR(credit.mean->value, 0.2, 1e-12);
  // 200 tasks, a fifth of which differ: a deviation of the mean of 0.028.
  EXPECT_NEAR(credit.mean->low, 0.2 - 1.96 * 0.028, 0.02);
  EXPECT_NEAR(credit.mean->high, 0.2 + 1.96 * 0.028, 0.02);
}

TEST(Proof, DifferencesOfSuccessArePairedAndSigned) {
  const ProofRuns made({{2, {800, 400, 900, 450, 800, 500}}});
  const Proof proof = MakeProof(made.sections, made.predictions).value();
  const ProofEffect& credit = proof.rows[0].effects[0];
  ASSERT_TRUE(credit.success.mean);
  EXPECT_GT(credit.success.mean->value, 0) << "attributed ended higher";
  const ProofEffect& flipped = proof.rows[0].effects[5];
  EXPECT_LT(flipped.success.mean->value, 0);
}

TEST(Proof, ArmsThatAreMissingLeaveTheirEffectsOut) {
  ProofRuns made({{1, {800, 400, 900, 450, 800, 500}}});
  made.sections[0].arms.resize(2);
  const Proof proof = MakeProof(made.sections, {}).value();
  ASSERT_EQ(proof.rows[0].effects.size(), 1u);
  EXPECT_EQ(proof.rows[0].Predicted(ProofRole::kSmearedReal, ProofRole::kAttributedReal, false),
            std::nullopt);
  EXPECT_TRUE(proof.pooled.empty()) << "one length is no pool";
}

TEST(Proof, OverAllLengthsASeedCountsOnce) {
  const ProofRuns made = TwoLengths();
  const Proof proof = MakeProof(made.sections, made.predictions).value();
  ASSERT_EQ(proof.pooled.size(), 8u);
  const PooledEffect& credit = proof.pooled[0];
  EXPECT_EQ(credit.with, ProofRole::kAttributedReal);
  const Difference &two = proof.rows[0].effects[0].on_the_way,
                   &four = proof.rows[1].effects[0].on_the_way;
  ASSERT_EQ(credit.on_the_way.by_seed.size(), 6u);
  EXPECT_DOUBLE_EQ(*credit.on_the_way.by_seed[3], (*two.by_seed[3] + *four.by_seed[3]) / 2);
  EXPECT_NEAR(credit.on_the_way.mean->value, (two.mean->value + four.mean->value) / 2, 1e-12);
  EXPECT_EQ(credit.on_the_way.more, 6);
  EXPECT_FALSE(credit.on_the_way.NoEffectShown());
  ASSERT_TRUE(proof.interaction.mean);
  EXPECT_NEAR(proof.interaction.mean->value,
              proof.pooled[1].on_the_way.mean->value - credit.on_the_way.mean->value, 1e-12);
}

TEST(Proof, SeedsThatShareAStartAtAnyLengthCountAsOneInThePool) {
  ProofRuns made = TwoLengths();
  for (ComparedRun& run : made.runs) {
    const bool four = run.arm.ends_with("-4");
    // Chains of 2 begin alike for seeds 1 and 2, chains of 4 for seeds 2 and 3.
    const uint64_t start = run.seed == (four ? 3U : 2U) ? run.seed - 1 : run.seed;
    run.start = (four ? "four " : "two ") + std::to_string(start);
  }
  const Proof proof = MakeProof(made.sections, made.predictions).value();
  EXPECT_EQ(proof.pooled[0].on_the_way.clusters, (Clusters{0, 0, 0, 1, 2, 3}));
  EXPECT_EQ(proof.interaction.clusters, (Clusters{0, 0, 0, 1, 2, 3}));
  EXPECT_EQ(proof.rows[0].effects[0].success.clusters, (Clusters{0, 0, 1, 2, 3, 4}));
}

TEST(Proof, ASeedThatALengthLacksIsNotPooled) {
  ProofRuns made = TwoLengths();
  made.sections[1].arms[0].runs.pop_back();
  const Proof proof = MakeProof(made.sections, made.predictions).value();
  EXPECT_EQ(proof.pooled[0].on_the_way.by_seed[5], std::nullopt);
  EXPECT_EQ(proof.pooled[0].on_the_way.more, 5);
}

TEST(Proof, NamesThatSayNothingAreRefused) {
  ProofRuns made({{1, {800, 400, 900, 450, 800, 500}}});
  made.sections[0].arms[0].name = "grpo";
  const auto refused = MakeProof(made.sections, {});
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().message().find("ROLE-LENGTH"), std::string::npos);
  made.sections[0].arms[0].name = "smeared-real-2";  // among chains of 1
  EXPECT_FALSE(MakeProof(made.sections, {}).ok());
}

TEST(Proof, AsJsonHasEveryNumber) {
  const ProofRuns made({{2, {800, 400, 900, 450, 800, 500}}});
  const Json json = ToJson(MakeProof(made.sections, made.predictions).value());
  const Json& row = json.Find("chains")->AsArray()[0];
  EXPECT_EQ(row.Find("length")->AsInteger(), 2);
  EXPECT_EQ(row.Find("roles")->AsArray().size(), 6u);
  ASSERT_EQ(row.Find("effects")->AsArray().size(), 8u);
  EXPECT_EQ(row.Find("effects")->AsArray()[0].Find("predicted_ratio")->AsDouble(), 1.5);
}

}  // namespace
}  // namespace hone
