// A group of one, all rewards equal, no tool call, missing scores: what each method does, written
// down here and on its page.

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "credit/specimens.h"
#include "support/credit_groups.h"

namespace hone {
namespace {

enum class Get {
  kZero,
  kRaw,  // the reward itself
};

struct Degenerate {
  Get alone = Get::kZero;      // a group of one without calls
  Get all_equal = Get::kZero;  // four of the same, no calls
};

// Everybody not named here gets zero in both cases.
const std::map<std::string, Degenerate>& Exceptions() {
  static const Degenerate raw_alone = {Get::kRaw, Get::kZero}, always_raw = {Get::kRaw, Get::kRaw};
  static const std::map<std::string, Degenerate> exceptions = {{"reinforce", always_raw},
                                                               {"grpo", raw_alone},
                                                               {"dr-grpo", raw_alone},
                                                               {"dapo", raw_alone},
                                                               {"opo", raw_alone},
                                                               {"gpg", raw_alone},
                                                               {"otb", raw_alone},
                                                               {"entropy-mask", raw_alone},
                                                               {"gae-token", always_raw},
                                                               {"gae-turn", always_raw},
                                                               {"gae-two-level", always_raw},
                                                               {"turn-ppo", always_raw},
                                                               {"steptool", always_raw},
                                                               {"otc-ppo", always_raw},
                                                               {"tapo", raw_alone},
                                                               {"arpo-soft", raw_alone},
                                                               {"arpo-hard", raw_alone},
                                                               {"tree-grpo", raw_alone},
                                                               {"otc-grpo", raw_alone},
                                                               {"hdpo", raw_alone},
                                                               {"gigpo", raw_alone},
                                                               {"mt-grpo", raw_alone},
                                                               {"spear-replay", always_raw}};
  return exceptions;
}

Degenerate ExpectedOf(const std::string& method) {
  const auto found = Exceptions().find(method);
  return found == Exceptions().end() ? Degenerate() : found->second;
}

// The last token: where undiscounted and discounted rewards agree.
double Last(const Credit& credit, size_t i) { return credit.advantages[i].values.back(); }

class Degenerates : public testing::TestWithParam<std::string> {
 protected:
  std::string spec() const { return ReadingOutcomes(lab::SpecOf(GetParam())); }
  // What replay pays is what is above its baseline of 0.5.
  double raw(double reward) const { return GetParam() == "spear-replay" ? reward - 0.5 : reward; }
};

TEST_P(Degenerates, AGroupOfOne) {
  const Credit credit = CreditOf(spec(), GroupOfPlain({"0.75"}));
  EXPECT_NEAR(Last(credit, 0), ExpectedOf(GetParam()).alone == Get::kRaw ? raw(0.75) : 0, 1e-6);
  if (Last(credit, 0) == 0) {
    EXPECT_FALSE(credit.notes.empty()) << "nothing, and nobody says why";
  }
}

TEST_P(Degenerates, AGroupThatShrankToOneGetsNothing) {
  const Credit credit = CreditOf(spec(), GroupOfPlain({"0.75", "null", "null"}));
  const bool looks_at_others = ExpectedOf(GetParam()).all_equal == Get::kZero;
  if (looks_at_others) {
    EXPECT_EQ(Last(credit, 0), 0);
  }
  EXPECT_TRUE(HasNote(credit, NoteKind::kUnscored, 1) || HasNote(credit, NoteKind::kGroupDropped));
}

TEST_P(Degenerates, AllRewardsEqual) {
  const Credit credit = CreditOf(spec(), GroupOfPlain({"0.75", "0.75", "0.75", "0.75"}));
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_NEAR(Last(credit, i), ExpectedOf(GetParam()).all_equal == Get::kRaw ? raw(0.75) : 0,
                1e-6);
  }
}

TEST_P(Degenerates, NoToolCallAnywhere) {
  const Credit credit = CreditOf(spec(), GroupOfPlain({"1", "0", "0", "1"}));
  for (const Advantages& one : credit.advantages) {
    for (const float value : one.values) EXPECT_TRUE(std::isfinite(value));
  }
  // Whoever compares outcomes still does, on all tokens.
  const bool reads_trees = GetParam() == "remax";
  if (!reads_trees) {
    EXPECT_GE(Last(credit, 0), Last(credit, 1));
  }
}

TEST_P(Degenerates, MissingScores) {
  for (const std::string& group :
       {GroupOfPlain({"null", "null", "null"}),
        std::string(R"({"group":[{"turns":[{"tokens":2}]},{"turns":[{"tokens":3}]}]})")}) {
    const Credit credit = CreditOf(spec(), group);
    for (const Advantages& one : credit.advantages) {
      for (const float value : one.values) EXPECT_EQ(value, 0);
    }
    EXPECT_FALSE(credit.notes.empty());
  }
}

TEST_P(Degenerates, ALeafThatTheModelWroteNothingOf) {
  const Credit credit = CreditOf(spec(), R"({"group":[
      {"terms":{"outcome":1},"turns":[{"author":"user","tokens":3}]},
      {"terms":{"outcome":0},"turns":[{"tokens":2}]},
      {"terms":{"outcome":1},"turns":[{"tokens":2}]}]})");
  EXPECT_TRUE(credit.advantages[0].values.empty());
}

INSTANTIATE_TEST_SUITE_P(Methods, Degenerates, testing::ValuesIn(MethodNames()),
                         [](const testing::TestParamInfo<std::string>& method) {
                           std::string name;
                           for (const char c : method.param) {
                             name += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
                           }
                           return name + "_" + std::to_string(method.index);
                         });

}  // namespace
}  // namespace hone
