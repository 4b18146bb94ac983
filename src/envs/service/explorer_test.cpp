#include "envs/service/explorer.h"

#include <gtest/gtest.h>

#include <map>

#include "envs/service/shop.h"

namespace hone::service {
namespace {

TEST(Explorer, UsesEveryToolAndIsRefusedAtTimes) {
  std::map<std::string, std::pair<int, int>> seen;  // answered, refused
  for (uint64_t seed = 0; seed < 200; ++seed) {
    Shop shop = ShopOf(seed);
    for (const Call& call : ExplorationOf(seed, Rng(seed))) {
      auto& [answered, refused] = seen[call.name];
      ++(Apply(call.name, call.arguments, &shop).ok() ? answered : refused);
    }
  }
  EXPECT_EQ(seen.size(), 7u);
  for (const auto& [tool, counts] : seen) {
    EXPECT_GT(counts.first, 20) << tool;
    EXPECT_GT(counts.second, 20) << tool;
  }
}

TEST(Explorer, LooksAtAnOrderBeforeItChangesItUnlessItIsTheWrongOne) {
  int writes = 0, unseen = 0;
  for (uint64_t seed = 0; seed < 50; ++seed) {
    std::map<std::string, bool> looked;
    for (const Call& call : ExplorationOf(seed, Rng(seed))) {
      const Json* order = call.arguments.Find("order");
      if (call.name == "get_order") looked[order->AsString()] = true;
      // Some name an order that is not there, or is meant to be another.
      writes += IsWrite(call.name);
      unseen += IsWrite(call.name) && !looked[order->AsString()];
    }
  }
  EXPECT_LT(unseen, writes / 5);
}

TEST(Explorer, IsTheSameForTheSameSeeds) {
  EXPECT_EQ(ExplorationOf(7, Rng(1)), ExplorationOf(7, Rng(1)));
  EXPECT_NE(ExplorationOf(7, Rng(1)), ExplorationOf(7, Rng(2)));
}

}  // namespace
}  // namespace hone::service
