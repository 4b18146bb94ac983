#include "train/processes/message_costs.h"

#include <gtest/gtest.h>

#include "support/credit_groups.h"

namespace hone {
namespace {

Method Grpo() { return NewMethod("grpo").value(); }

TEST(MessageCosts, TreesAndUpdatesHaveBytesAndTakeTime) {
  std::vector<ScoredTree> records;
  for (int i = 0; i < 3; ++i) records.push_back(GroupFrom(GroupOfPlain({"1", "0"})).record);
  const Result<MessageCosts> costs = MeasureMessages(records, Grpo());
  ASSERT_TRUE(costs.ok()) << costs.error().message();
  EXPECT_EQ(costs->trees, 3);
  int64_t tokens = 0;
  for (const Node& node : records[0].tree.nodes) tokens += std::ssize(node.tokens);
  EXPECT_EQ(costs->tokens, 3 * tokens);
  // A token is four bytes at least, and one that is trained has its numbers besides.
  EXPECT_GT(costs->tree_bytes, 4);
  EXPECT_GT(costs->update_bytes, 4);
  EXPECT_GT(costs->tree_seconds, 0);
  EXPECT_GT(costs->update_seconds, 0);
  EXPECT_GE(costs->credit_seconds, 0);
}

TEST(MessageCosts, WithoutTokensThereIsNothingToMeasure) {
  const Result<MessageCosts> costs = MeasureMessages({}, Grpo());
  ASSERT_FALSE(costs.ok());
  EXPECT_EQ(costs.error().message(), "there are no tokens in these trees");
}

}  // namespace
}  // namespace hone
