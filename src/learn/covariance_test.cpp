#include "learn/covariance.h"

#include <gtest/gtest.h>

#include <numeric>

namespace hone {
namespace {

// Ten tokens: the mean advantage is 0 and so is the mean log-probability's distance; covariances
// are 4, 1, 0, ...
std::vector<CovarianceToken> Tokens() {
  std::vector<CovarianceToken> tokens(10, {-2, -2, 0});
  tokens[3] = {-1, -1, 4};   // (4)(1) = 4
  tokens[4] = {-3, -3, -4};  // (-4)(-1) = 4
  tokens[5] = {-1, -1, 1.5f};
  tokens[6] = {-3, -3, -1.5f};
  return tokens;
}

int Count(const std::vector<char>& chosen) {
  return std::accumulate(chosen.begin(), chosen.end(), 0);
}

TEST(Covariance, KlCovTakesTheHighestAndOfEqualsTheFirst) {
  ObjectiveOptions options = ObjectiveNamed("kl-cov");
  const std::vector<char> least = ChooseByCovariance(options, Tokens(), Rng(1));
  EXPECT_EQ(Count(least), 1) << "at least one";
  EXPECT_TRUE(least[3]);
  options.covariance.share = 0.3;
  const std::vector<char> three = ChooseByCovariance(options, Tokens(), Rng(2));
  EXPECT_EQ(Count(three), 3);
  EXPECT_TRUE(three[3] && three[4] && three[5]);
}

TEST(Covariance, ClipCovDrawsAmongThoseBetweenItsBoundsThatAreNotClippedAnyway) {
  ObjectiveOptions options = ObjectiveNamed("clip-cov");
  options.covariance = {.share = 0.1, .lower = 1, .upper = 5};
  std::array<int, 10> seen{};
  for (uint64_t i = 0; i < 300; ++i) {
    const std::vector<char> chosen = ChooseByCovariance(options, Tokens(), Rng(5).Split(i));
    EXPECT_EQ(Count(chosen), 1);
    for (size_t t = 0; t < 10; ++t) seen[t] += chosen[t];
  }
  for (const size_t t : {3, 4, 5, 6}) EXPECT_GT(seen[t], 40) << t;
  EXPECT_EQ(seen[0], 0);
  // Token 3 has risen so far that its ratio is clipped.
  std::vector<CovarianceToken> risen = Tokens();
  risen[3].old = -2;
  options.covariance.share = 1;
  EXPECT_FALSE(ChooseByCovariance(options, risen, Rng(1))[3]);
  EXPECT_EQ(Count(ChooseByCovariance(options, risen, Rng(1))), 3);
  options.covariance.upper = 2;
  EXPECT_EQ(Count(ChooseByCovariance(options, risen, Rng(1))), 2);
}

TEST(Covariance, NobodyIsChosenWhereThereIsNobody) {
  EXPECT_TRUE(ChooseByCovariance(ObjectiveNamed("kl-cov"), {}, Rng(1)).empty());
  const std::vector<CovarianceToken> equal(4, {-1, -1, 1});
  EXPECT_EQ(Count(ChooseByCovariance(ObjectiveNamed("clip-cov"), equal, Rng(1))), 0);
}

}  // namespace
}  // namespace hone
