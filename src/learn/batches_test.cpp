#include "learn/batches.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace hone {
namespace {

TEST(Batches, EveryEpochHasEveryGroupOnceInAnOrderOfItsOwn) {
  const std::vector<int64_t> tokens(11, 100);
  const auto batches = MakeMiniBatches({.mini_batches = 4, .epochs = 3}, tokens, Rng(1));
  ASSERT_EQ(batches.size(), 12u);
  std::set<std::vector<size_t>> orders;
  for (size_t epoch = 0; epoch < 3; ++epoch) {
    std::vector<size_t> order;
    for (size_t b = 4 * epoch; b < 4 * epoch + 4; ++b) {
      EXPECT_EQ(batches[b].epoch, static_cast<int64_t>(epoch));
      const std::vector<size_t> groups = batches[b].Groups();
      EXPECT_TRUE(groups.size() == 2 || groups.size() == 3) << "spread evenly";
      order.insert(order.end(), groups.begin(), groups.end());
    }
    orders.insert(order);
    std::sort(order.begin(), order.end());
    for (size_t i = 0; i < 11; ++i) EXPECT_EQ(order[i], i);
  }
  EXPECT_EQ(orders.size(), 3u);
}

TEST(Batches, AreAFunctionOfTheRng) {
  const std::vector<int64_t> tokens = {5, 9, 100, 3, 3, 3, 80};
  const BatchOptions options{.mini_batches = 2, .epochs = 2, .call_tokens = 90};
  auto all = [&](uint64_t seed) {
    std::vector<std::vector<EngineCalls>> slices;
    for (const MiniBatch& batch : MakeMiniBatches(options, tokens, Rng(seed))) {
      slices.push_back(batch.slices);
    }
    return slices;
  };
  EXPECT_EQ(all(3), all(3));
  EXPECT_NE(all(3), all(4));
}

TEST(Batches, NoCallExceedsItsTokensUnlessAGroupDoes) {
  std::vector<int64_t> tokens;
  Rng rng(7);
  for (int i = 0; i < 200; ++i) tokens.push_back(1 + static_cast<int64_t>(rng.Below(60)));
  tokens[17] = 500;
  const auto batches = MakeMiniBatches({.mini_batches = 3, .call_tokens = 100}, tokens, Rng(2));
  bool alone = false;
  for (const MiniBatch& batch : batches) {
    ASSERT_EQ(batch.slices.size(), 1u);
    const EngineCalls& calls = batch.slices[0];
    for (size_t c = 0; c < calls.size(); ++c) {
      int64_t sum = 0;
      for (const size_t group : calls[c]) sum += tokens[group];
      ASSERT_FALSE(calls[c].empty());
      EXPECT_TRUE(sum <= 100 || calls[c] == std::vector<size_t>{17}) << sum;
      alone |= calls[c] == std::vector<size_t>{17};
      if (c + 1 < calls.size()) {
        EXPECT_GT(sum + tokens[calls[c + 1][0]], 100) << "filled as far as it goes";
      }
    }
  }
  EXPECT_TRUE(alone);
}

TEST(Batches, FewGroupsMakeFewMiniBatchesAndNoneMakeNone) {
  EXPECT_EQ(MakeMiniBatches({.mini_batches = 8}, std::vector<int64_t>{1, 1, 1}, Rng(1)).size(), 3u);
  EXPECT_TRUE(MakeMiniBatches({.mini_batches = 8, .epochs = 2}, {}, Rng(1)).empty());
}

TEST(Batches, ShufflesAllOrdersAlike) {
  std::map<std::vector<size_t>, int> seen;
  for (uint64_t i = 0; i < 6000; ++i) ++seen[Shuffled(3, Rng(9).Split(i))];
  EXPECT_EQ(seen.size(), 6u);
  for (const auto& [order, count] : seen) EXPECT_NEAR(count, 1000, 130);
}

TEST(Batches, SlicesAreEvenAndKeepTheOrder) {
  const std::vector<int64_t> tokens(10, 40);
  for (const int64_t slices : {1, 3, 4, 12}) {
    const auto whole = MakeMiniBatches({.mini_batches = 2}, tokens, Rng(3));
    const auto cut = MakeMiniBatches({.mini_batches = 2, .call_tokens = 100, .slices = slices},
                                     tokens, Rng(3));
    ASSERT_EQ(cut.size(), whole.size());
    for (size_t b = 0; b < cut.size(); ++b) {
      EXPECT_EQ(cut[b].Groups(), whole[b].Groups());
      ASSERT_EQ(cut[b].slices.size(), static_cast<size_t>(slices));
      for (const EngineCalls& calls : cut[b].slices) {
        size_t groups = 0;
        for (const auto& call : calls) groups += call.size();
        EXPECT_LE(groups, 5 / static_cast<size_t>(slices) + 1);
      }
    }
  }
}

}  // namespace
}  // namespace hone
