#include "rollout/demonstration.h"

#include <gtest/gtest.h>

#include "envs/agents.h"
#include "record/validate.h"
#include "support/desk_policy.h"

namespace hone {
namespace {

TEST(DemonstrationTest, TurnsArePolicyNodesWithTheCallsThatWereMade) {
  const DeskPolicy desk({.tasks = 12});
  for (size_t i = 0; i < desk.tasks().size(); ++i) {
    const Playthrough& played = desk.demonstrations()[i];
    const Tree tree = DemonstrationTree(desk.codec(), desk.tasks()[i], 1, played).value();
    EXPECT_EQ(Validate({tree, {}, {}}), std::vector<std::string>());
    size_t turn = 0;
    for (const Node& node : tree.nodes) {
      if (node.author != Author::kPolicy) continue;
      ASSERT_LT(turn, played.turns.size());
      const AgentTurn& agent = played.turns[turn++].agent;
      ASSERT_EQ(node.calls.size(), agent.calls.size());
      for (size_t c = 0; c < agent.calls.size(); ++c) {
        EXPECT_EQ(node.calls[c].name, agent.calls[c].name);
        EXPECT_EQ(node.calls[c].arguments, agent.calls[c].arguments);
        EXPECT_FALSE(node.calls[c].span.empty());
      }
      EXPECT_EQ(node.policy_version, kDemonstrated);
    }
    EXPECT_EQ(turn, played.turns.size());
    EXPECT_EQ(tree.leaves[0].ending, Ending::kAnswered);
    EXPECT_EQ(*tree.leaves[0].final_state.Find("verdict"), Json(true));
  }
}

TEST(DemonstrationTest, WhatTheDialectCannotSpellIsRefused) {
  const DeskPolicy desk({.tasks = 2});
  Playthrough played = desk.demonstrations()[0];
  played.turns[0].agent.calls.clear();
  played.turns[0].agent.answer = "a</answer>b";
  EXPECT_FALSE(DemonstrationTree(desk.codec(), desk.tasks()[0], 1, played).ok());
  played = desk.demonstrations()[0];
  played.turns[0].agent.faults.push_back({FaultKind::kBadJson, "bad", {}});
  EXPECT_NE(
      DemonstrationTree(desk.codec(), desk.tasks()[0], 1, played).error().message().find("faults"),
      std::string::npos);
  played.turns.clear();
  EXPECT_FALSE(DemonstrationTree(desk.codec(), desk.tasks()[0], 1, played).ok());
}

// The rendering of the whole conversation, which is what a template gives, has the same tokens.
TEST(DemonstrationTest, HasTheTokensOfTheWholeRendering) {
  for (const char* dialect : {"tagged:desk", "hermes", "action-json"}) {
    const DeskPolicy desk({.dialect = dialect, .tasks = 12});
    for (size_t i = 0; i < desk.tasks().size(); ++i) {
      const Playthrough& played = desk.demonstrations()[i];
      const Tree tree = DemonstrationTree(desk.codec(), desk.tasks()[i], 1, played).value();
      const Conversation conversation =
          ConversationFromJson(
              Json::Of({{"messages", MessagesOf(played)}, {"tools", played.opening.tools}}))
              .value();
      std::vector<TokenId> whole =
          EncodePieces(desk.tokenizer(), desk.dialect().Render(conversation).value());
      const std::vector<TokenId> tokens = TokensOf(tree, PathTo(tree, tree.leaves[0].node));
      ASSERT_LE(tokens.size(), whole.size());
      whole.resize(tokens.size());  // behind the last turn a template may close it
      EXPECT_EQ(tokens, whole) << dialect;
    }
  }
}

}  // namespace
}  // namespace hone
