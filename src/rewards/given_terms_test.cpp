#include "rewards/given_terms.h"

#include <gtest/gtest.h>

namespace hone {
namespace {

using Names = std::vector<std::string>;

std::optional<Names> GivenBy(const char* json) {
  return GivenTerms(RewardOptionsFromJson(*ParseJson(json), "reward").value());
}

TEST(GivenTerms, OfPresetsCostsAndSums) {
  EXPECT_EQ(GivenBy("\"desk\""), (Names{"call", "outcome"}));
  EXPECT_EQ(GivenBy(R"({"costs": {"per_call": 1, "per_token": 1}})"), (Names{"cost", "length"}));
  EXPECT_EQ(GivenBy(R"({"thoughts": {"most": 9, "buffer": 3, "shorter": 1}})"),
            (Names{"overlong_thought", "short_thought"}));
  EXPECT_EQ(GivenBy(R"({"thoughts": {"shorter": 1}})"), (Names{"short_thought"}));
  EXPECT_EQ(GivenBy(R"({"sum": ["outcome", {"costs": {"over_budget": 1}}]})"),
            (Names{"budget", "outcome"}));
}

TEST(GivenTerms, OnlyThoseThatArePicked) {
  EXPECT_EQ(GivenBy(R"({"preset": "desk", "terms": ["outcome", "fold"]})"), Names{"outcome"});
}

TEST(GivenTerms, NobodyJudgesPreferencesInARecipe) {
  const Names given = GivenBy("\"default\"").value();
  EXPECT_EQ(std::count(given.begin(), given.end(), "preference"), 0);
  EXPECT_EQ(std::count(given.begin(), given.end(), "outcome"), 1);
}

TEST(GivenTerms, AProgramNamesItsTermsItselfUnlessTheyArePicked) {
  EXPECT_EQ(GivenBy(R"({"command": ["true"], "term": "mine"})"), std::nullopt);
  EXPECT_EQ(GivenBy(R"({"sum": ["outcome", {"command": ["true"]}]})"), std::nullopt);
  EXPECT_EQ(GivenBy(R"({"command": ["true"], "terms": ["call"]})"), Names{"call"});
}

}  // namespace
}  // namespace hone
