#include "envs/service/user.h"

#include <gtest/gtest.h>

namespace hone::service {
namespace {

Goal Exchange() {
  Goal goal;
  goal.kind = "exchange";
  goal.request = "I want another colour.";
  goal.order = "W1234";
  goal.product = "lamp";
  goal.colour = "red";
  goal.fallback = "blue";
  return goal;
}

Goal Status() {
  Goal goal;
  goal.kind = "status";
  goal.request = "What is the status of W1?";
  goal.again = "But what is the status?";
  goal.order = "W1";
  goal.facts = {0};
  return goal;
}

TEST(ScriptedUserTest, AnswersWhatItIsAsked) {
  ScriptedUser user({"ana@mail.test", {Exchange()}}, {});
  EXPECT_EQ(user.Opening(), "I want another colour.");
  EXPECT_EQ(user.Reply("What is your email?").text, "The email is ana@mail.test.");
  EXPECT_EQ(user.Reply("Which order, and which item?").text,
            "The order is W1234. The product is lamp.");
  EXPECT_EQ(user.Reply("Which colour?").text, "The colour is red.");
  EXPECT_EQ(user.Reply("Red is out of stock.").text, "Then blue, please.");
  EXPECT_EQ(user.Reply("Which colour?").text, "The colour is blue.");
  EXPECT_FALSE(user.confirmed());
  EXPECT_EQ(user.Reply("Shall I exchange it?").text, "Yes, please.");
  EXPECT_TRUE(user.confirmed());
  const ScriptedUser::Line bye = user.Reply("Done. Anything else?");
  EXPECT_TRUE(bye.stop);
  EXPECT_TRUE(user.satisfied());
}

TEST(ScriptedUserTest, ChangesItsMindOnce) {
  Goal goal = Exchange();
  goal.change = "No, wait.";
  ScriptedUser user({"e", {goal}}, {});
  EXPECT_EQ(user.Reply("Shall I?").text, "No, wait.");
  EXPECT_FALSE(user.confirmed());
  EXPECT_EQ(user.Reply("Shall I then?").text, "Yes, please.");
}

TEST(ScriptedUserTest, InsistsOnWhatWasNotToldAndLosesPatience) {
  ScriptedUser user({"e", {Status(), Exchange()}}, {"shipped"});
  EXPECT_EQ(user.Reply("Is there anything else?").text, "But what is the status?");
  EXPECT_EQ(user.Reply("It is Shipped! Anything else?").text, "Thank you. I want another colour.");
  ScriptedUser other({"e", {Status()}}, {"shipped"});
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(other.Reply("Hm.").stop);
  EXPECT_TRUE(other.Reply("Hm.").stop);
  EXPECT_FALSE(other.satisfied());
}

TEST(ScriptedUserTest, ACopyGoesItsOwnWay) {
  ScriptedUser user({"e", {Exchange()}}, {});
  ScriptedUser copy = user;
  user.Reply("Shall I?");
  EXPECT_TRUE(user.confirmed());
  EXPECT_FALSE(copy.confirmed());
}

TEST(ScriptedUserTest, FactsAreWholeWords) {
  EXPECT_TRUE(Mentions("The total is 42.", "42"));
  EXPECT_FALSE(Mentions("The total is 142.", "42"));
  EXPECT_TRUE(Mentions("Status: SHIPPED", "shipped"));
  EXPECT_FALSE(Mentions("unshipped", "shipped"));
}

TEST(ScriptedUserTest, ScriptsAreReadBack) {
  const Script script{"e", {Status(), Exchange()}};
  EXPECT_EQ(ScriptFromJson(ScriptToJson(script)).value().goals, script.goals);
  EXPECT_FALSE(ScriptFromJson(*ParseJson(R"({"email":"e","goals":[]})")).ok());
  EXPECT_FALSE(ScriptFromJson(*ParseJson(R"({"email":"e","goals":[{"requst":"x"}]})")).ok());
}

}  // namespace
}  // namespace hone::service
