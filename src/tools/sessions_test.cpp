#include "tools/sessions.h"

#include <gtest/gtest.h>

#include "support/scripted_toolkit.h"

namespace hone {
namespace {

class SessionsTest : public testing::Test {
 protected:
  void Use(Sharing sharing) {
    kit_ = std::make_shared<SumToolkit>(sharing);
    toolbox_ = ToolboxOf({kit_});
    sessions_ = std::make_shared<Sessions>(toolbox_, 1);
  }
  const Toolbox::Tool& add() const { return toolbox_->tools()[0]; }
  static Json N(int n) { return Json::Of({{"n", n}}); }

  // A call that the tool carries out.
  std::string Add(Sessions& sessions, int n, bool counts = true) {
    const Sessions::Place place = sessions.Enter(add(), N(n));
    const ToolReply reply = sessions.Perform(place, add(), N(n), {});
    sessions.Settle(place, counts);
    return reply.content;
  }

  std::shared_ptr<SumToolkit> kit_;
  std::shared_ptr<const Toolbox> toolbox_;
  std::shared_ptr<Sessions> sessions_;
};

TEST_F(SessionsTest, CallsOfATrajectoryShareASessionAndTrajectoriesDoNot) {
  Use(Sharing::kReplay);
  EXPECT_EQ(Add(*sessions_, 2), "2");
  EXPECT_EQ(Add(*sessions_, 3), "5");
  Sessions other(toolbox_, 1);
  EXPECT_EQ(Add(other, 3), "3");
  EXPECT_EQ(kit_->opened(), 2);
}

TEST_F(SessionsTest, ABranchGoesOnFromTheSameStateOnItsOwn) {
  for (const Sharing sharing : {Sharing::kClone, Sharing::kReplay}) {
    Use(sharing);
    Add(*sessions_, 2);
    Add(*sessions_, 3);
    const std::shared_ptr<Sessions> branch = sessions_->Fork().value();
    EXPECT_EQ(Add(*branch, 10), "15");
    EXPECT_EQ(Add(*sessions_, 1), "6");
    EXPECT_EQ(Add(*branch, 1), "16");
    EXPECT_EQ(kit_->called(), sharing == Sharing::kClone ? 5 : 7);
    EXPECT_EQ(branch->rebuild_mismatches(), 0);
  }
}

TEST_F(SessionsTest, WhatCannotBeHadTwiceDoesNotBranchOnceItWasUsed) {
  Use(Sharing::kOnce);
  EXPECT_TRUE(sessions_->Fork().ok());
  Add(*sessions_, 2);
  const auto branch = sessions_->Fork();
  ASSERT_FALSE(branch.ok());
  EXPECT_EQ(branch.error().code(), ErrorCode::kUnsupported);
}

TEST_F(SessionsTest, CallsAnsweredWithoutTheToolAreMadeUpForWhenItIsNeeded) {
  Use(Sharing::kReplay);
  sessions_->Settle(sessions_->Enter(add(), N(2)), true);   // from a journal
  sessions_->Settle(sessions_->Enter(add(), N(3)), true);   // from a journal
  sessions_->Settle(sessions_->Enter(add(), N(9)), false);  // had timed out
  EXPECT_EQ(kit_->opened(), 0);
  EXPECT_EQ(Add(*sessions_, 1), "6");
}

TEST_F(SessionsTest, ACallThatDoesNotCountLeavesNoTrace) {
  Use(Sharing::kReplay);
  Add(*sessions_, 2);
  EXPECT_EQ(Add(*sessions_, 100, false), "102");
  EXPECT_EQ(Add(*sessions_, 1), "3");
}

TEST_F(SessionsTest, ALostSessionIsBuiltAgain) {
  Use(Sharing::kReplay);
  Add(*sessions_, 2);
  const Json lose = Json::Of({{"lost", true}});
  const Sessions::Place place = sessions_->Enter(add(), lose);
  EXPECT_TRUE(sessions_->Perform(place, add(), lose, {}).session_lost);
  sessions_->Settle(place, false);
  EXPECT_EQ(Add(*sessions_, 1), "3");
  EXPECT_EQ(kit_->opened(), 2);
}

TEST_F(SessionsTest, AThreadThatComesTooLateLeavesTheSessionAlone) {
  Use(Sharing::kReplay);
  const Sessions::Place late = sessions_->Enter(add(), N(100));
  sessions_->Settle(late, false);  // timed out before its thread came to it
  EXPECT_EQ(sessions_->Perform(late, add(), N(100), {}).status, CallStatus::kTimeout);
  bool ran = false;
  sessions_->WhenTurn(late, [&] { ran = true; });
  EXPECT_FALSE(ran);
  EXPECT_EQ(Add(*sessions_, 1), "1");
}

TEST_F(SessionsTest, NoSessionIsBuiltAgainByRepeatingWhatMustNotBe) {
  // A session whose calls reach the world outside.
  class Outside final : public Toolkit {
   public:
    const std::vector<ToolSpec>& tools() const override { return specs_; }
    Sharing sharing() const override { return Sharing::kReplay; }
    Result<std::unique_ptr<Session>> Open(uint64_t) override { return std::make_unique<Session>(); }
    ToolReply Call(std::string_view, const Json&, Session*, const CallLimits&) override {
      return Answered(std::to_string(++calls));
    }
    int calls = 0;

   private:
    const std::vector<ToolSpec> specs_ = {{.name = "send",
                                           .parameters = Json::Of({{"type", "object"}}),
                                           .effect = Effect::kIrreversible}};
  };
  const auto kit = std::make_shared<Outside>();
  const auto toolbox = ToolboxOf({kit});
  const Toolbox::Tool& send = toolbox->tools()[0];
  Sessions sessions(toolbox, 1);
  sessions.Settle(sessions.Enter(send, N(1)), true);  // from a journal
  const Sessions::Place place = sessions.Enter(send, N(2));
  const ToolReply reply = sessions.Perform(place, send, N(2), {});
  EXPECT_EQ(reply.status, CallStatus::kUnavailable);
  EXPECT_EQ(reply.blame, Blame::kInfrastructure);
  EXPECT_EQ(kit->calls, 0);
}

TEST_F(SessionsTest, CallsHaveTheirTurnsInTheOrderTheyWereMade) {
  Use(Sharing::kReplay);
  std::vector<int> turns;
  std::vector<Sessions::Place> places;
  for (int i = 0; i < 4; ++i) places.push_back(sessions_->Enter(add(), N(i)));
  for (const int i : {3, 1, 2, 0}) {
    sessions_->WhenTurn(places[i], [&turns, i] { turns.push_back(i); });
  }
  EXPECT_EQ(turns, (std::vector<int>{0}));
  sessions_->Settle(places[2], false);  // cancelled while it waited
  sessions_->Settle(places[0], true);
  EXPECT_EQ(turns, (std::vector<int>{0, 1}));
  sessions_->Settle(places[1], true);
  EXPECT_EQ(turns, (std::vector<int>{0, 1, 3}));
}

TEST_F(SessionsTest, TheStateIsWhatEarlierCallsWroteOfWhatACallDependsOn) {
  auto tools = std::make_shared<ScriptedToolkit>();
  auto add = [&](std::string name, Effect effect, std::string resource) {
    tools->Add({.name = std::move(name),
                .description = "",
                .parameters = Json::Of({{"type", "object"}}),
                .effect = effect,
                .resource = std::move(resource)},
               nullptr);
  };
  add("read_orders", Effect::kReads, "orders");
  add("write_orders", Effect::kWrites, "orders");
  add("write_users", Effect::kWrites, "users");
  add("write_world", Effect::kWrites, "");
  add("read_world", Effect::kReads, "");
  add("sum", Effect::kPure, "");
  const auto toolbox = ToolboxOf({tools});
  Sessions sessions(toolbox, 1);
  auto enter = [&](const char* name, int n = 0) {
    return sessions.Enter(*toolbox->Find(name), N(n)).state_hash;
  };
  EXPECT_EQ(enter("read_orders"), "");
  enter("write_users");
  EXPECT_EQ(enter("read_orders"), "");
  const std::string world = enter("read_world");
  EXPECT_NE(world, "");
  enter("write_orders", 1);
  const std::string orders = enter("read_orders");
  EXPECT_NE(orders, "");
  EXPECT_NE(enter("read_world"), world);
  enter("write_world");
  EXPECT_NE(enter("read_orders"), orders);
  EXPECT_EQ(enter("sum"), "");
  Sessions other(toolbox, 2);
  other.Enter(*toolbox->Find("write_orders"), N(2));
  EXPECT_NE(other.Enter(*toolbox->Find("read_orders"), N(0)).state_hash, orders);
}

TEST_F(SessionsTest, WhatWasWrittenBeforeIsToldOnceItHasEndedAndInOrder) {
  Use(Sharing::kReplay);
  using Writes = std::vector<Sessions::EarlierWrite>;
  const Sessions::Place first = sessions_->Enter(add(), N(1)),
                        second = sessions_->Enter(add(), N(2)),
                        third = sessions_->Enter(add(), N(3));
  std::vector<Writes> told;
  auto keep = [&](Writes writes) { told.push_back(std::move(writes)); };
  sessions_->WhenWritesEnded(first, keep);
  ASSERT_EQ(told.size(), 1u);
  EXPECT_TRUE(told[0].empty());
  sessions_->WhenWritesEnded(third, keep);
  sessions_->WhenWritesEnded(second, keep);
  EXPECT_EQ(told.size(), 1u);
  sessions_->Settle(first, true, {.content = "1"});
  ASSERT_EQ(told.size(), 2u);
  EXPECT_EQ(told[1], (Writes{{"add", N(1), CallStatus::kOk, "1"}}));
  sessions_->Settle(second, true, {.status = CallStatus::kToolError, .content = "no"});
  ASSERT_EQ(told.size(), 3u);
  EXPECT_EQ(told[2], (Writes{{"add", N(1), CallStatus::kOk, "1"},
                             {"add", N(2), CallStatus::kToolError, "no"}}));
  sessions_->Settle(third, true, {.content = "4"});
  const std::shared_ptr<Sessions> branch = sessions_->Fork().value();
  branch->WhenWritesEnded(branch->Enter(add(), N(4)), keep);
  EXPECT_EQ(told.back().size(), 3u);
}

}  // namespace
}  // namespace hone
