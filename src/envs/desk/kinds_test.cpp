#include "envs/desk/kinds.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "envs/desk/desk_tools.h"
#include "envs/plan.h"

namespace hone::desk {
namespace {

TEST(KindsTest, ThereAreThirtyTwoAndFourHardOnes) {
  std::map<std::string_view, int> families;
  std::set<std::string_view> names;
  int unseen = 0;
  for (const Kind& kind : Kinds()) {
    ++families[FamilyName(kind.family)];
    names.insert(kind.name);
    unseen += kind.unseen ? 1 : 0;
    EXPECT_EQ(FindKind(kind.name)->name, kind.name);
  }
  EXPECT_EQ(families,
            (std::map<std::string_view, int>{{"A", 4}, {"B", 12}, {"C", 7}, {"D", 9}, {"H", 4}}));
  EXPECT_EQ(names.size(), 36u);
  EXPECT_EQ(unseen, 2);
  EXPECT_EQ(FindKind("nothing"), nullptr);
}

// What every kind promises: the plan's calls are the keys it named, no request gives its answer
// away where a tool is needed, and there is a fresh way to say it where it says so.
TEST(KindsTest, PlansAreAboutTheirKeys) {
  for (const Kind& kind : Kinds()) {
    int written = 0;
    for (uint64_t i = 0; i < 4000 && written < 20; ++i) {
      Draft draft(Rng(i), Split::kTrain);
      if (!kind.write(&draft)) continue;
      ++written;
      const World world = WorldOf(draft.session_seed);
      std::vector<std::string> calls;
      const auto gold = CarryOut(draft.plan, [&](const Call& call) {
        calls.push_back(call.name);
        return hone::desk::Answer(world, call.name, call.arguments);
      });
      ASSERT_TRUE(gold.ok()) << kind.name << ": " << gold.error().message();
      ASSERT_TRUE(gold->answer);
      EXPECT_EQ(static_cast<int64_t>(calls.size()), kind.calls) << kind.name;
      EXPECT_EQ(draft.prompt.find('{'), std::string::npos) << draft.prompt;
      if (kind.family == Family::kWhen) {
        EXPECT_TRUE(calls.empty()) << kind.name;
        continue;
      }
      std::multiset<std::string> made(calls.begin(), calls.end()), named;
      for (const std::string& key : draft.keys) named.insert(key.substr(0, key.find(' ')));
      EXPECT_EQ(made, named) << kind.name;
    }
    EXPECT_EQ(written, 20) << kind.name;
  }
}

TEST(KindsTest, FreshWordingsAreThereWhereTheyAreSaidToBe) {
  for (const Kind& kind : Kinds()) {
    if (!kind.unseen_phrases) continue;
    std::set<std::string> seen, fresh;
    for (uint64_t i = 0; i < 3000; ++i) {
      Draft train(Rng(i), Split::kTrain), unseen(Rng(i), Split::kUnseenPhrases);
      if (kind.write(&train)) seen.insert(std::to_string(train.phrase));
      if (kind.write(&unseen)) fresh.insert(std::to_string(unseen.phrase));
    }
    EXPECT_FALSE(fresh.empty()) << kind.name;
    for (const std::string& phrase : fresh) EXPECT_EQ(seen.count(phrase), 0u) << kind.name;
  }
}

}  // namespace
}  // namespace hone::desk
