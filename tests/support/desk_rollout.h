#pragma once

#include <bit>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "record/validate.h"
#include "rollout/chains.h"
#include "support/desk_policy.h"
#include "support/late_responder.h"
#include "tools/modes.h"

namespace hone {

// How a rollout of the desk is set up, where it differs from the usual.
struct DeskSetup {
  RolloutOptions options;
  const Strategy* strategy = nullptr;        // null: chains
  const Environment* environment = nullptr;  // null: the desk's own; else one around it
  Sampling sampling = {.temperature = 1.4f, .forbidden_set = 1};
  int64_t turn_tokens = 48;
  ThoughtLimits thoughts;
  RoutingOptions answers;
  LateResponder::Latency latency;  // null: none
  std::shared_ptr<Timeline> timeline = NewVirtualTimeline();
  std::function<void(ExecutorOptions*)> change_executor;
};

inline Result<RolloutResult> TryRoll(DeskPolicy* desk, const std::vector<GroupRequest>& requests,
                                     DeskSetup setup = {}, std::stop_token stop = {}) {
  const Environment& environment =
      setup.environment != nullptr ? *setup.environment : desk->environment();
  ExecutorOptions executing =
      OptionsFor(setup.answers, *environment.tools(), setup.timeline.get()).value();
  if (setup.latency) {
    executing.responders[0] = std::make_shared<LateResponder>(executing.responders[0],
                                                              setup.latency, setup.timeline.get());
  }
  if (setup.change_executor) setup.change_executor(&executing);
  Executor executor(std::move(executing), setup.timeline.get());
  const auto chains = NewChains();
  const Strategy* strategy = setup.strategy != nullptr ? setup.strategy : chains.get();
  HONE_ASSIGN_OR_RETURN(const Rollout rollout,
                        Rollout::New(setup.options, &environment,
                                     desk->Make(setup.sampling, setup.turn_tokens, setup.thoughts),
                                     strategy, &executor));
  return rollout.Run(requests, stop);
}

inline RolloutResult Roll(DeskPolicy* desk, const std::vector<GroupRequest>& requests,
                          DeskSetup setup = {}) {
  Result<RolloutResult> result = TryRoll(desk, requests, std::move(setup));
  CHECK(result.ok(), result.error().message());
  return *std::move(result);
}

// Trees without what was only measured.
inline std::vector<Tree> Unmeasured(std::vector<Tree> trees) {
  for (Tree& tree : trees) {
    for (Node& node : tree.nodes) {
      for (ToolResult& result : node.results) result.latency_us = 0;
    }
  }
  return trees;
}

// Trees are valid, and what they say of their tokens is what the engine says, to the bit.
inline void ExpectSound(DeskPolicy* desk, const std::vector<Tree>& trees) {
  const std::vector<TreeLogprobs> scores = desk->engine().LogProbs(trees);
  int64_t tokens = 0;
  for (size_t i = 0; i < trees.size(); ++i) {
    EXPECT_EQ(Validate({trees[i], {}, {}}), std::vector<std::string>());
    EXPECT_TRUE(desk->engine().CheckTree(trees[i]).ok());
    for (size_t n = 0; n < trees[i].nodes.size(); ++n) {
      const Node& node = trees[i].nodes[n];
      if (node.author != Author::kPolicy) continue;
      for (size_t t = 0; t < node.tokens.size(); ++t, ++tokens) {
        ASSERT_EQ(std::bit_cast<uint32_t>(node.logprobs[t]),
                  std::bit_cast<uint32_t>(scores[i][n].logprobs[t]));
        ASSERT_EQ(std::bit_cast<uint32_t>(node.entropies[t]),
                  std::bit_cast<uint32_t>(scores[i][n].entropies[t]));
      }
    }
  }
  EXPECT_GT(tokens, 0);
}

}  // namespace hone
