#include "learn/objective_metrics.h"

#include <gtest/gtest.h>

#include <set>

namespace hone {
namespace {

TEST(ObjectiveMetrics, CombineWeighsByTokens) {
  ObjectiveMetrics a, b;
  a.tokens = 30;
  a.sequences = 3;
  a.ratio_one = 30;
  a.loss = 1;
  a.entropy = 2;
  a.max_ratio = 1.5;
  b.tokens = 10;
  b.sequences = 1;
  b.ratio_one = 4;
  b.loss = 5;
  b.entropy = 0;
  b.max_ratio = 1.2;
  b.vetoed = 2;
  const std::vector<ObjectiveMetrics> parts = {a, b};
  const ObjectiveMetrics all = Combine(parts);
  EXPECT_EQ(all.tokens, 40);
  EXPECT_EQ(all.sequences, 4);
  EXPECT_EQ(all.ratio_one, 34);
  EXPECT_EQ(all.vetoed, 2);
  EXPECT_DOUBLE_EQ(all.loss, 2);
  EXPECT_DOUBLE_EQ(all.entropy, 1.5);
  EXPECT_DOUBLE_EQ(all.max_ratio, 1.5);
  EXPECT_EQ(Combine({}).tokens, 0);
}

TEST(ObjectiveMetrics, NamesAreDistinct) {
  std::set<std::string> names;
  for (const auto& [name, value] : ObjectiveMetrics().Named()) names.insert(name);
  EXPECT_EQ(names.size(), ObjectiveMetrics().Named().size());
  for (const char* name : {"entropy", "kl", "clip_fraction", "loss"})
    EXPECT_TRUE(names.count(name));
}

}  // namespace
}  // namespace hone
