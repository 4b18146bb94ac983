#include "envs/service/played_user.h"

#include <gtest/gtest.h>

#include "envs/service/service_tasks.h"

namespace hone::service {
namespace {

struct Told {
  Task task;
  Json script;
};

Told Tell(const std::string& kind, Split split = Split::kTrain) {
  TaskOptions options;
  options.kinds = {kind};
  options.two_goals = 0;
  const Task task = NewTaskSource(options)->Make(split, 0);
  return {task, PlayedScript(ScriptFromJson(*task.metadata.Find("user")).value(),
                             ShopOf(*task.metadata.Find("seed")->AsUint64()), false)};
}

std::string GoalOf(const Told& told) { return told.script.Find("goal")->AsString(); }

bool Has(const Json* list, const Json& value) {
  for (const Json& one : list->AsArray()) {
    if (one == value) return true;
  }
  return false;
}

TEST(PlayedUserTest, EveryGoalIsToldWithAllThatIsNeededForIt) {
  for (const char* kind :
       {"status", "total", "cancel", "cancel_too_late", "address", "change_of_mind", "correction",
        "exchange", "exchange_sold_out", "return", "return_total"}) {
    const Told told = Tell(kind);
    const Json& goal = told.task.metadata.Find("user")->Find("goals")->AsArray()[0];
    for (const char* key : {"order", "product", "colour", "city", "fallback"}) {
      if (const Json* value = goal.Find(key)) {
        EXPECT_TRUE(Mentions(GoalOf(told), value->AsString())) << kind << ": " << GoalOf(told);
      }
    }
    // It is not how the customer speaks.
    EXPECT_EQ(GoalOf(told).find(goal.Find("request")->AsString()), std::string::npos);
  }
}

TEST(PlayedUserTest, WhatIsWantedIsNoAlternative) {
  const Told told = Tell("address");
  const Json& goal = told.task.metadata.Find("user")->Find("goals")->AsArray()[0];
  const Json &values = *told.script.Find("values"), &others = *told.script.Find("alternatives");
  for (const char* name : {"order", "city"}) {
    EXPECT_TRUE(Has(values.Find(name), *goal.Find(name)));
    EXPECT_FALSE(Has(others.Find(name), *goal.Find(name)));
    EXPECT_GE(others.Find(name)->AsArray().size(), 3u);
  }
  EXPECT_EQ(others.Find("order")->AsArray().size(), 11u) << "twelve orders, one of them wanted";
}

TEST(PlayedUserTest, BothOrdersOfACorrectionAreTheCustomers) {
  const Told told = Tell("correction");
  EXPECT_EQ(told.script.Find("values")->Find("order")->AsArray().size(), 2u);
  EXPECT_EQ(told.script.Find("alternatives")->Find("order")->AsArray().size(), 10u);
}

TEST(PlayedUserTest, ASecondWishMustBeSpokenOf) {
  TaskOptions options;
  options.two_goals = 1;
  options.kinds = {"status", "return"};
  const Task task = NewTaskSource(options)->Make(Split::kTrain, 0);
  const Script script = ScriptFromJson(*task.metadata.Find("user")).value();
  ASSERT_EQ(script.goals.size(), 2u);
  const Json told = PlayedScript(script, ShopOf(*task.metadata.Find("seed")->AsUint64()), true);
  EXPECT_TRUE(told.Find("wishes")->AsArray()[0].AsArray().empty());
  EXPECT_TRUE(Has(&told.Find("wishes")->AsArray()[1], Json(script.goals[1].order)));
  EXPECT_EQ(*told.Find("met"), Json(true));
}

}  // namespace
}  // namespace hone::service
