#include "rollout/policy_agent.h"

#include <gtest/gtest.h>

#include "support/desk_rollout.h"

namespace hone {
namespace {

// What a tree's only trajectory called and how it ended.
std::pair<std::vector<std::string>, Ending> Did(const Tree& tree) {
  std::vector<std::string> calls;
  for (const Node& node : tree.nodes) {
    for (const Call& call : node.calls) calls.push_back(call.name + DumpJson(call.arguments));
  }
  return {calls, tree.leaves[0].ending};
}

TEST(PolicyAgentTest, DoesWhatTheRolloutOfOneChainDoes) {
  DeskPolicy desk({.tasks = 6, .steps = 120});
  for (const float temperature : {0.0f, 1.4f}) {
    const Sampling sampling{.temperature = temperature, .forbidden_set = 1};
    const std::vector<GroupRequest> requests = desk.Requests(1);
    const RolloutResult rolled = Roll(&desk, requests, {.sampling = sampling});
    const Policy policy = desk.Make(sampling);
    const auto timeline = NewVirtualTimeline();
    Executor executor(OptionsFor({}, *desk.environment().tools(), timeline.get()).value(),
                      timeline.get());
    size_t compared = 0;
    for (size_t i = 0; i < requests.size(); ++i) {
      PolicyAgent agent(&policy, requests[i].seed);
      const Playthrough played = Play(desk.environment(), requests[i].task,
                                      EpisodeSeed(requests[i].seed), &agent, &executor)
                                     .value();
      EXPECT_TRUE(!agent.left() || agent.ending() == Ending::kTokenLimit) << agent.problem();
      std::vector<std::string> calls;
      for (const PlayedTurn& turn : played.turns) {
        for (const Call& call : turn.agent.calls) {
          calls.push_back(call.name + DumpJson(call.arguments));
        }
      }
      EXPECT_EQ(std::make_pair(calls, played.ending), Did(rolled.trees[i]));
      EXPECT_EQ(played.final_state, rolled.trees[i].leaves[0].final_state);
      compared += calls.size();
    }
    EXPECT_GT(compared, 0u);
  }
}

TEST(PolicyAgentTest, LeavesWhereTheModelCanReadNoMore) {
  DeskPolicy desk({.tasks = 2, .positions = 24});
  const Policy policy = desk.Make({.temperature = 0, .forbidden_set = 1});
  PolicyAgent agent(&policy, 1);
  Opening opening;
  opening.messages = Json::Array{
      Json::Of({{"role", "user"}, {"content", std::string(400, 'x') + " what is the time?"}})};
  agent.Act(opening, {});
  EXPECT_TRUE(agent.left());
  EXPECT_EQ(agent.ending(), Ending::kTokenLimit);
  EXPECT_NE(agent.problem().find("as long as the model can read"), std::string::npos);
}

}  // namespace
}  // namespace hone
