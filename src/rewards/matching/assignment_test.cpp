#include "rewards/matching/assignment.h"

#include <algorithm>
#include <numeric>

#include <gtest/gtest.h>

#include "base/rng.h"

namespace hone {
namespace {

double SumOf(const std::vector<std::vector<double>>& weights, const std::vector<int32_t>& columns) {
  double sum = 0;
  for (size_t row = 0; row < columns.size(); ++row) {
    if (columns[row] >= 0) sum += weights[row][columns[row]];
  }
  return sum;
}

// By trying all orders of the longer side.
double BestByTrying(const std::vector<std::vector<double>>& weights) {
  const size_t rows = weights.size(), columns = weights[0].size();
  std::vector<size_t> order(std::max(rows, columns));
  std::iota(order.begin(), order.end(), size_t{0});
  double best = 0;
  do {
    double sum = 0;
    for (size_t i = 0; i < std::min(rows, columns); ++i) {
      sum += rows <= columns ? weights[i][order[i]] : weights[order[i]][i];
    }
    best = std::max(best, sum);
  } while (std::next_permutation(order.begin(), order.end()));
  return best;
}

TEST(Assignment, IsTheBestOfAllOverRandomTables) {
  Rng rng(7);
  for (int round = 0; round < 300; ++round) {
    const size_t rows = 1 + rng.Below(6), columns = 1 + rng.Below(6);
    std::vector<std::vector<double>> weights(rows, std::vector<double>(columns));
    for (auto& row : weights) {
      for (double& weight : row) {
        weight = rng.Below(3) == 0 ? 0 : static_cast<double>(rng.Below(9)) / 8;
      }
    }
    const std::vector<int32_t> columns_of = BestAssignment(weights);
    ASSERT_EQ(columns_of.size(), rows);
    std::vector<int32_t> used;
    for (const int32_t column : columns_of) {
      if (column >= 0) used.push_back(column);
    }
    std::sort(used.begin(), used.end());
    EXPECT_EQ(std::adjacent_find(used.begin(), used.end()), used.end()) << "a column used twice";
    EXPECT_NEAR(SumOf(weights, columns_of), BestByTrying(weights), 1e-12) << round;
  }
}

TEST(Assignment, GreedyWouldBeWrong) {
  EXPECT_EQ(BestAssignment({{1.0, 0.9}, {0.9, 0.0}}), (std::vector<int32_t>{1, 0}));
}

TEST(Assignment, NothingIsAssignedForNothing) {
  EXPECT_EQ(BestAssignment({{0, 0}, {0, 1}}), (std::vector<int32_t>{-1, 1}));
  EXPECT_EQ(BestAssignment({{}, {}}), (std::vector<int32_t>{-1, -1}));
  EXPECT_TRUE(BestAssignment({}).empty());
}

}  // namespace
}  // namespace hone
