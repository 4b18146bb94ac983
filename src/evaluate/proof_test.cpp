#include "evaluate/proof.h"

#include <gtest/gtest.h>

#include "support/proof_runs.h"

namespace hone {
namespace {

TEST(Proof, HasTheMediansTheRatiosAndTheLaboratory) {
  const ProofRuns made(
      {{2, {800, 400, 900, 450, 800, 500}}, {4, {3000, 1000, 0, 1100, 3000, 1500}}});
  const Proof proof = MakeProof(made.sections, made.predictions).value();
  ASSERT_EQ(proof.rows.size(), 2u);
  const ProofRow& two = proof.rows[0];
  EXPECT_EQ(two.length, 2);
  EXPECT_EQ(two.predicted, 1.5);
  EXPECT_EQ(two.predicted_placebo, 2.0);
  ASSERT_EQ(two.effects.size(), 6u);
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
  EXPECT_EQ(proof.rows[0].predicted, std::nullopt);
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
  EXPECT_EQ(row.Find("effects")->AsArray().size(), 6u);
  EXPECT_EQ(row.Find("predicted_ratio")->AsDouble(), 1.5);
}

}  // namespace
}  // namespace hone
