#include "credit/token_mask.h"

#include <gtest/gtest.h>

#include "support/credit_groups.h"

namespace hone {
namespace {

int Size(const std::vector<Span>& spans) {
  int size = 0;
  for (const Span& span : spans) size += span.end - span.begin;
  return size;
}

TEST(TokenMask, ActionsOffActionsAndResults) {
  const ShortGroup made = GroupFrom(R"({"group":[{"turns":[
      {"tokens":6,"calls":[{"begin":1,"end":3}],"faults":[{"begin":2,"end":5}]},
      {"author":"tool","tokens":3},{"tokens":2}]}]})");
  const Trajectory one = GroupOf(made.record)->trajectories[0];
  EXPECT_EQ(MaskSpans(TokenMask::kActions, one), (std::vector<Span>{{1, 3}, {3, 5}}))
      << "a fault that overlaps a call: no token twice";
  EXPECT_EQ(MaskSpans(TokenMask::kOffActions, one), (std::vector<Span>{{0, 1}, {5, 8}}));
  EXPECT_EQ(MaskSpans(TokenMask::kBeforeResult, one), (std::vector<Span>{{0, 6}}));
  EXPECT_EQ(MaskSpans(TokenMask::kAfterResult, one), (std::vector<Span>{{6, 8}}));
  EXPECT_EQ(MaskSpans(TokenMask::kAll, one), (std::vector<Span>{{0, 8}}));
  EXPECT_EQ(MaskSpans(TokenMask::kWithResult, one), (std::vector<Span>{{0, 8}}));
  EXPECT_TRUE(MaskSpans(TokenMask::kWithoutResult, one).empty());
  const ShortGroup plain = GroupFrom(GroupOfPlain({"1"}));
  const Trajectory other = GroupOf(plain.record)->trajectories[0];
  EXPECT_TRUE(MaskSpans(TokenMask::kBeforeResult, other).empty());
  EXPECT_TRUE(MaskSpans(TokenMask::kWithResult, other).empty());
  EXPECT_EQ(MaskSpans(TokenMask::kWithoutResult, other), (std::vector<Span>{{0, 2}}));
}

TEST(TokenMask, TheThoughtBeforeAnActionMayBelongToIt) {
  ShortGroup made = GroupFrom(R"({"group":[{"turns":[
      {"tokens":9,"calls":[{"begin":3,"end":5},{"begin":7,"end":8}],
       "faults":[{"begin":4,"end":6}]}]}]})");
  for (Node& node : made.record.tree.nodes) {
    if (node.author == Author::kPolicy) node.thoughts = {{0, 2}, {4, 7}, {8, 9}};
  }
  const Trajectory one = GroupOf(made.record)->trajectories[0];
  constexpr ActionReach kReach = ActionReach::kWithThought;
  EXPECT_EQ(MaskSpans(TokenMask::kActions, one, kReach),
            (std::vector<Span>{{0, 2}, {3, 5}, {5, 6}, {7, 8}}))
      << "a thought that an action overlaps stays what it is";
  EXPECT_EQ(MaskSpans(TokenMask::kOffActions, one, kReach),
            (std::vector<Span>{{2, 3}, {6, 7}, {8, 9}}));
  EXPECT_EQ(MaskSpans(TokenMask::kActions, one), (std::vector<Span>{{3, 5}, {5, 6}, {7, 8}}));
}

TEST(TokenMask, ThePlaceboHasAsManyTokensAndNoneOfACall) {
  const ShortGroup made = GroupFrom(R"({"group":[
      {"turns":[{"tokens":20,"calls":[{"begin":3,"end":8}]}]},
      {"turns":[{"tokens":6,"calls":[{"begin":0,"end":5}]}]}]})");
  const Group group = *GroupOf(made.record);
  const std::vector<Span> spans = MaskSpans(TokenMask::kPlacebo, group.trajectories[0]);
  EXPECT_EQ(Size(spans), 5);
  for (const Span& span : spans) EXPECT_TRUE(span.end <= 3 || span.begin >= 8);
  EXPECT_GT(spans.back().begin, 15) << "spread over the whole trajectory";
  EXPECT_EQ(Size(MaskSpans(TokenMask::kPlacebo, group.trajectories[1])), 1)
      << "all others where there are fewer";
}

}  // namespace
}  // namespace hone
