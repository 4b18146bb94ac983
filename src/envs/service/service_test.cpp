#include "envs/service/service.h"

#include <gtest/gtest.h>

#include <fmt/format.h>

#include "envs/agents.h"
#include "envs/service/service_tasks.h"
#include "envs/service/shop.h"
#include "support/env_player.h"
#include "support/scripted_toolkit.h"

namespace hone::service {
namespace {

std::shared_ptr<const Environment> Desk(const ServiceOptions& options = {}) {
  return WithRules(NewService(options).value(), ServiceRules());
}

Task FirstOf(std::string kind, Split split = Split::kTrain) {
  TaskOptions options;
  options.kinds = {std::move(kind)};
  options.two_goals = 0;
  return NewTaskSource(options)->Make(split, 0);
}

// Says and calls what it is told to.
class Script final : public Agent {
 public:
  explicit Script(std::vector<AgentTurn> turns) : turns_(std::move(turns)) {}
  AgentTurn Act(const Opening&, const std::vector<PlayedTurn>& turns) override {
    if (turns.size() < turns_.size()) return turns_[turns.size()];
    return Saying("Is there anything else?");
  }
  static AgentTurn Saying(std::string text) {
    AgentTurn turn;
    turn.answer = std::move(text);
    return turn;
  }
  static AgentTurn Calling(std::string tool, Json arguments) {
    AgentTurn turn;
    turn.calls = {{std::move(tool), std::move(arguments), {}}};
    return turn;
  }

 private:
  std::vector<AgentTurn> turns_;
};

// The gold write of a task.
AgentTurn GoldWrite(const Task& task) {
  for (const Json& call : task.reward.Find("calls")->AsArray()) {
    const std::string& name = call.Find("name")->AsString();
    if (IsWrite(name)) return Script::Calling(name, *call.Find("arguments"));
  }
  ADD_FAILURE() << "a task without a write";
  return {};
}

TEST(ServiceTest, ThePlanSucceedsAndAsksBeforeItWrites) {
  const auto tasks = NewTaskSource({});
  EnvPlayer player(Desk());
  for (uint64_t i = 0; i < 200; ++i) {
    const Task task = tasks->Make(Split::kTrain, i);
    const Playthrough played = player.Run(task, NewClerk(task).value());
    ASSERT_TRUE(played.success()) << DumpJson(MessagesOf(played), JsonStyle::kPretty)
                                  << DumpJson(played.final_state);
    EXPECT_EQ(played.ending, Ending::kUserStop);
    EXPECT_EQ(*played.final_state.Find("unconfirmed_writes"), Json(0));
  }
}

TEST(ServiceTest, AClerkWhoseCallFailedDoesNotLookForItsResultAgain) {
  EnvPlayer player(Desk());
  Task task = FirstOf("status");
  task.metadata.Set("seed", 1);  // a shop that does not have the customer
  const Playthrough played = player.Run(task, NewClerk(task).value());
  EXPECT_FALSE(played.success());
  EXPECT_EQ(played.turns.back().agent.answer, "Sorry, it cannot be done.");
}

TEST(ServiceTest, AWriteWithoutConfirmationIsCounted) {
  const Task task = FirstOf("cancel");
  EnvPlayer player(Desk());
  const Playthrough played =
      player.Run(task, std::make_unique<Script>(std::vector<AgentTurn>{GoldWrite(task)}));
  EXPECT_TRUE(played.success()) << "the shop is right";
  EXPECT_EQ(*played.final_state.Find("unconfirmed_writes"), Json(1));
}

TEST(ServiceTest, AWriteTooManySpoilsIt) {
  const Task task = FirstOf("address");
  AgentTurn wrong = GoldWrite(task);
  wrong.calls[0].arguments.Set("city", "Nowhere");
  EnvPlayer player(Desk());
  EXPECT_FALSE(player.Run(task, std::make_unique<Script>(std::vector<AgentTurn>{wrong})).success());
  // What counts is how the shop stands in the end.
  EXPECT_TRUE(
      player.Run(task, std::make_unique<Script>(std::vector<AgentTurn>{wrong, GoldWrite(task)}))
          .success());
}

TEST(ServiceTest, ToolsAndPolicyCanBeLeftToBeKnownByHeart) {
  const Task task = FirstOf("status");
  const auto first = [&](const ServiceOptions& options) {
    return Desk(options)->Open(task, 1).value()->opening().messages.AsArray()[0];
  };
  EXPECT_EQ(first({}).Find("content")->AsString(), Policy());
  ServiceOptions bare;
  bare.list_tools = bare.show_policy = false;
  EXPECT_EQ(first(bare).Find("role")->AsString(), "user");
  EXPECT_TRUE(Desk(bare)->Open(task, 1).value()->opening().tools.AsArray().empty());
}

TEST(ServiceTest, WhatWasToBeToldMustBeTold) {
  const Task task = FirstOf("status");
  const std::string status = task.reward.Find("outputs")->AsArray()[0].AsString();
  EnvPlayer player(Desk());
  EXPECT_FALSE(player.Run(task, NewIdleAgent()).success());
  const auto told = player.Run(
      task,
      std::make_unique<Script>(std::vector<AgentTurn>{Script::Saying("It is " + status + ".")}));
  EXPECT_TRUE(told.success());
}

TEST(ServiceTest, ReadsSeeEarlierWritesAndErrorsDependOnState) {
  const Task task = FirstOf("cancel");
  const AgentTurn cancel = GoldWrite(task);
  const Json order = Json::Of({{"order", *cancel.calls[0].arguments.Find("order")}});
  EnvPlayer player(Desk());
  const Playthrough played = player.Run(task, std::make_unique<Script>(std::vector<AgentTurn>{
                                                  Script::Calling("get_order", order), cancel,
                                                  Script::Calling("get_order", order), cancel}));
  const auto content = [&](size_t turn) { return played.turns[turn].agent.results[0].content; };
  EXPECT_NE(content(0).find("\"status\":\"pending\""), std::string::npos);
  EXPECT_NE(content(2).find("\"status\":\"cancelled\""), std::string::npos);
  EXPECT_EQ(played.turns[3].agent.results[0].status, CallStatus::kToolError);
  EXPECT_NE(content(3).find("is cancelled, not pending"), std::string::npos);
  EXPECT_TRUE(played.success()) << "a call that was refused changed nothing";
}

TEST(ServiceTest, PolicyIsMoreThanWhatToolsRefuse) {
  const Task task = FirstOf("return_cheap", Split::kUnseenKinds);
  // The tool would take it back; the policy would not.
  const Json& get = *task.reward.Find("calls")->AsArray()[1].Find("arguments");
  EnvPlayer player(Desk());
  const std::string price = task.reward.Find("outputs")->AsArray()[0].AsString();
  std::vector<AgentTurn> turns = {Script::Saying("It was " + price + ".")};
  EXPECT_TRUE(player.Run(task, std::make_unique<Script>(turns)).success());
  for (const char* item : {"I1", "I2", "I3"}) {
    turns.insert(
        turns.begin(),
        Script::Calling("return_item", Json::Of({{"order", *get.Find("order")}, {"item", item}})));
  }
  EXPECT_FALSE(player.Run(task, std::make_unique<Script>(turns)).success());
}

TEST(ServiceTest, InAForeignWorldTheWritesThatSucceededDecide) {
  // A simulator that says ok to everything.
  const Task task = FirstOf("cancel");
  auto episode = Desk()->Open(task, 1).value();
  AgentTurn write = GoldWrite(task);
  write.results = {{.call = 0, .content = R"({"cancelled":true})"}};
  episode->Step(write);
  EXPECT_EQ(*episode->final_state().Find("verdict"), Json(true));
  EXPECT_TRUE(episode->final_state().Find("shop_is_right")->is_null());
  episode->Step(write);
  EXPECT_EQ(*episode->final_state().Find("verdict"), Json(false));
}

// Plays the customer as a tool.
std::shared_ptr<Toolkit> PlayedUser(std::string reply) {
  auto toolkit = std::make_shared<ScriptedToolkit>();
  toolkit->Add("user", Effect::kReads, [reply](const Json& arguments, const CallLimits&) {
    EXPECT_NE(arguments.Find("script"), nullptr);
    EXPECT_GE(arguments.Find("conversation")->AsArray().size(), 2u);
    return Answered(reply);
  });
  return toolkit;
}

TEST(ServiceTest, ACustomerCanBePlayedByATool) {
  const Task task = FirstOf("status");
  EnvPlayer player(Desk({.user = PlayedUser(R"({"text":"Bye.","stop":true})")}));
  const Playthrough played = player.Run(task, NewIdleAgent());
  EXPECT_EQ(played.ending, Ending::kUserStop);
  EXPECT_EQ(played.turns[0].environment.user, "Bye.");
  // The agent can neither see nor call it.
  EXPECT_EQ(DumpJson(played.opening.tools).find("\"user\""), std::string::npos);
  const Playthrough called = player.Run(
      task,
      std::make_unique<Script>(std::vector<AgentTurn>{Script::Calling("user", Json::Object())}));
  EXPECT_EQ(called.turns[0].agent.results[0].status, CallStatus::kUnknownTool);
  // What cannot be understood is the fault of who plays.
  EnvPlayer broken(Desk({.user = PlayedUser("hm")}));
  EXPECT_EQ(broken.Run(task, NewIdleAgent()).blame, Blame::kUserSimulator);
}

TEST(ServiceTest, WrongTasksAreRefused) {
  Task task = FirstOf("cancel");
  task.metadata.Set("user", Json::Object());
  EXPECT_FALSE(Desk()->Open(task, 1).ok());
  task = FirstOf("cancel");
  task.reward = *ParseJson(R"({"calls":[{"name":"fly","arguments":{}}]})");
  EXPECT_FALSE(Desk()->Open(task, 1).ok());
  EXPECT_FALSE(NewClerk({}).ok());
}

}  // namespace
}  // namespace hone::service
