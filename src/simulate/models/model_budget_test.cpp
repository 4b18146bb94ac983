#include "simulate/models/model_budget.h"

#include <gtest/gtest.h>

namespace hone {
namespace {

TEST(ModelBudget, WhatTookTooLongMayHaveBeenPaidFor) {
  ModelBudget budget({.prompt_price = 1e6, .completion_price = 1e6, .max_money = 100});
  const TokenUsage most{2, 3};
  ASSERT_FALSE(budget.SetAside(most));
  const ToolResult late{.status = CallStatus::kTimeout, .attempts = 2};
  budget.Charge(CompletionStatus::kUnavailable, false, PerhapsUsed(late, most), most);
  EXPECT_DOUBLE_EQ(budget.account().money, 10);
  EXPECT_EQ(budget.account().failures, 1);
  const ToolResult refused{.status = CallStatus::kUnavailable, .attempts = 2};
  EXPECT_EQ(PerhapsUsed(refused, most).completion, 0);
}

TEST(ModelBudget, WhatIsSetAsideCountsUntilItIsCharged) {
  ModelBudget budget({.prompt_price = 1e6, .completion_price = 2e6, .max_money = 10});
  EXPECT_EQ(budget.Price({1, 2}), 5);
  EXPECT_FALSE(budget.SetAside({2, 2}));
  EXPECT_TRUE(budget.SetAside({3, 1})) << "6 are set aside, and 5 more could be needed";
  budget.Charge(CompletionStatus::kOk, false, {1, 0}, {2, 2});
  EXPECT_FALSE(budget.SetAside({3, 1}));
  budget.Charge(CompletionStatus::kUnavailable, false, {}, {3, 1});
  const ModelAccount account = budget.account();
  EXPECT_EQ(account.money, 1);
  EXPECT_EQ(account.completions, 1);
  EXPECT_EQ(account.failures, 1);
  EXPECT_EQ(account.refused, 1);
}

TEST(ModelBudget, WhatIsRecordedCostsNothing) {
  ModelBudget budget({.prompt_price = 1e6, .max_tokens = 4});
  EXPECT_FALSE(budget.SetAside({}));
  budget.Charge(CompletionStatus::kOk, true, {100, 100}, {});
  EXPECT_EQ(budget.account().money, 0);
  EXPECT_EQ(budget.account().recorded, 1);
  EXPECT_TRUE(budget.SetAside({3, 2})) << "five tokens are more than four";
}

}  // namespace
}  // namespace hone
