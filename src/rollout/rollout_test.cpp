#include "rollout/rollout.h"

#include <map>

#include <gtest/gtest.h>

#include "base/file.h"
#include "rollout/strategies.h"
#include "support/desk_rollout.h"

namespace hone {
namespace {

using std::chrono::milliseconds;

DeskPolicy::Options Trained() { return {.tasks = 6, .steps = 160}; }

std::vector<std::unique_ptr<Strategy>> AllStrategies() {
  std::vector<std::unique_ptr<Strategy>> all;
  for (const auto& known : BuiltInStrategies()) all.push_back(NewStrategy(known.name).value());
  return all;
}

// Latencies that differ from call to call, and from seed to seed.
LateResponder::Latency Shuffled(uint64_t seed) {
  return [seed](const CallAttempt& attempt) -> std::optional<Clock::Duration> {
    Rng rng = Rng(seed).Split(attempt.identity.Text());
    return milliseconds(rng.Below(5000));
  };
}

TEST(RolloutTest, AGreedyPolicyThatKnowsItsTasksPlaysThemInTheTokensOfTheDemonstrations) {
  DeskPolicy desk(Trained());
  const RolloutResult result =
      Roll(&desk, desk.Requests(1), {.sampling = {.temperature = 0, .forbidden_set = 1}});
  for (size_t i = 0; i < desk.tasks().size(); ++i) {
    const Tree shown =
        DemonstrationTree(desk.codec(), desk.tasks()[i], 1, desk.demonstrations()[i]).value();
    const Tree& played = result.trees[i];
    ASSERT_EQ(played.leaves.size(), 1u);
    EXPECT_EQ(*played.leaves[0].final_state.Find("verdict"), Json(true));
    ASSERT_EQ(played.nodes.size(), shown.nodes.size());
    for (size_t n = 0; n < shown.nodes.size(); ++n) {
      EXPECT_EQ(played.nodes[n].author, shown.nodes[n].author);
      EXPECT_EQ(played.nodes[n].tokens, shown.nodes[n].tokens);
      EXPECT_EQ(played.nodes[n].calls, shown.nodes[n].calls);
      ASSERT_EQ(played.nodes[n].results.size(), shown.nodes[n].results.size());
      for (size_t r = 0; r < shown.nodes[n].results.size(); ++r) {
        EXPECT_EQ(played.nodes[n].results[r].content, shown.nodes[n].results[r].content);
      }
    }
  }
  EXPECT_GT(result.counts.calls, 0);
}

TEST(RolloutTest, TreesOfEveryStrategyAreValidAndTheirLogProbsAreTheEngines) {
  DeskPolicy desk(Trained());
  for (const auto& strategy : AllStrategies()) {
    for (const Sampling& sampling :
         {Sampling{.temperature = 1.4f, .forbidden_set = 1},
          Sampling{.temperature = 1.2f, .top_k = 20, .top_p = 0.9f, .forbidden_set = 1}}) {
      SCOPED_TRACE(strategy->traits().name);
      const RolloutResult result =
          Roll(&desk, desk.Requests(6), {.strategy = strategy.get(), .sampling = sampling});
      ExpectSound(&desk, result.trees);
      EXPECT_GT(result.counts.calls, 0);
      for (size_t i = 0; i < result.trees.size(); ++i) {
        EXPECT_EQ(result.trees[i].leaves.size(), 6u);  // of Tree-GRPO, too: 2 * (1 + 2)
        EXPECT_EQ(result.trees[i].task, desk.tasks()[i]);
        EXPECT_EQ(result.groups[i].paths.size(), 6u);
        EXPECT_EQ(result.groups[i].problem, "");
      }
    }
  }
}

// A policy that thinks before every turn, free and within limits.
TEST(RolloutTest, TreesOfThoughtsThatALimitClosedAreSound) {
  const TemporaryDirectory directory;
  const auto tags = directory.path() / "thinking.toml";
  ASSERT_TRUE(WriteFileAtomic(tags, R"(
chat = false
think = "think"
[[action]]
tag = "tool_call"
body = "json"
result_open = "<tool_response>"
result_close = "</tool_response>"
)"));
  DeskPolicy desk({.dialect = "tagged:" + tags.string(),
                   .thought = "I look it up, and then I say what I found",
                   .tasks = 4,
                   .steps = 160});
  const auto roll = [&](const ThoughtLimits& limits) {
    const RolloutResult result = Roll(&desk, desk.Requests(4),
                                      {.sampling = {.temperature = 1, .forbidden_set = 1},
                                       .turn_tokens = 64,
                                       .thoughts = limits});
    ExpectSound(&desk, result.trees);
    return result;
  };
  const TokenId close = *desk.tokenizer().FindAdded("</think>");
  int64_t free_thoughts = 0, closed = 0, turns = 0;
  for (const Tree& tree : roll({}).trees) {
    for (const Node& node : tree.nodes) {
      free_thoughts += static_cast<int64_t>(node.thoughts.size());
      EXPECT_EQ(node.closed_thoughts, 0);
      EXPECT_TRUE(node.supports.empty());
    }
  }
  EXPECT_GT(free_thoughts, 16);
  for (const Tree& tree : roll({.tokens = 3}).trees) {
    for (const Node& node : tree.nodes) {
      if (node.author != Author::kPolicy) continue;
      ++turns;
      closed += node.closed_thoughts;
      EXPECT_LE(ThoughtTokens(node), 3 + 2 * static_cast<int64_t>(node.thoughts.size()));
      EXPECT_EQ(node.supports.empty(), node.closed_thoughts == 0);
      int32_t forced = 0;
      for (size_t t = 0; t < node.supports.size(); ++t) {
        if (node.supports[t].kept.empty()) continue;
        ++forced;
        EXPECT_EQ(node.supports[t].kept, std::vector<TokenId>{close});
        EXPECT_EQ(node.logprobs[t], 0);
      }
      EXPECT_EQ(forced, node.closed_thoughts);
    }
  }
  EXPECT_GT(closed, turns / 2) << "a thought has more than three tokens";
}

TEST(RolloutTest, TreesDoNotDependOnLatenciesNorOnHowManyAreUnderWay) {
  DeskPolicy desk(Trained());
  for (const auto& strategy : AllStrategies()) {
    SCOPED_TRACE(strategy->traits().name);
    const std::vector<Tree> trees =
        Unmeasured(Roll(&desk, desk.Requests(6), {.strategy = strategy.get()}).trees);
    for (const uint64_t seed : {1, 2, 3}) {
      EXPECT_EQ(trees, Unmeasured(Roll(&desk, desk.Requests(6),
                                       {.strategy = strategy.get(), .latency = Shuffled(seed)})
                                      .trees));
    }
    for (const int64_t live : {1, 3, 64}) {
      EXPECT_EQ(trees, Unmeasured(Roll(&desk, desk.Requests(6),
                                       {.options = {.max_live = live},
                                        .strategy = strategy.get(),
                                        .latency = Shuffled(4)})
                                      .trees));
    }
  }
}

TEST(RolloutTest, TreesDoNotDependOnThreadsNorOnTheTimelineNorOnMemory) {
  DeskPolicy::Options options = Trained();
  DeskPolicy one(options);
  options.threads = 2;
  DeskPolicy two(options);
  options.sampler_memory = 1 << 17;  // preempts
  DeskPolicy small(options);
  ASSERT_EQ(one.engine().WeightsHash(), two.engine().WeightsHash());
  for (const auto& strategy : AllStrategies()) {
    SCOPED_TRACE(strategy->traits().name);
    const std::vector<Tree> trees =
        Unmeasured(Roll(&one, one.Requests(6), {.strategy = strategy.get()}).trees);
    EXPECT_EQ(trees, Unmeasured(Roll(&two, two.Requests(6),
                                     {.strategy = strategy.get(), .timeline = NewRealTimeline()})
                                    .trees));
    const RolloutResult tight = Roll(&small, small.Requests(6), {.strategy = strategy.get()});
    EXPECT_EQ(trees, Unmeasured(tight.trees));
    EXPECT_GT(tight.counts.preemptions, 0);
  }
}

TEST(RolloutTest, AGroupDependsOnItsOwnRequestAlone) {
  DeskPolicy desk(Trained());
  std::vector<GroupRequest> requests = desk.Requests(4);
  const std::vector<Tree> all = Unmeasured(Roll(&desk, requests).trees);
  std::swap(requests[0], requests[3]);
  requests.erase(requests.begin() + 1);
  const std::vector<Tree> some = Unmeasured(Roll(&desk, requests).trees);
  EXPECT_EQ(some[0], all[3]);
  EXPECT_EQ(some[2], all[0]);
  requests[0].seed = 5;
  EXPECT_NE(Roll(&desk, requests).trees[0].nodes, all[3].nodes);
}

TEST(RolloutTest, ReplayingTheJournalGivesTheSameTreesAndAsksNobody) {
  DeskPolicy desk(Trained());
  const std::vector<FaultRule> faults = {
      {.kind = InjectedFault::kTimeout, .probability = 0.2},
      {.kind = InjectedFault::kTruncatedJson, .probability = 0.3}};
  const TemporaryDirectory folder;
  for (const auto& strategy : AllStrategies()) {
    SCOPED_TRACE(strategy->traits().name);
    const std::shared_ptr<Journal> journal =
        Journal::Open(folder.path() / (strategy->traits().name + ".sqlite")).value();
    const DeskSetup recording{
        .strategy = strategy.get(),
        .answers = {.mode = ToolMode::kRecord, .journal = journal, .faults = faults, .seed = 3},
        .latency = {},
        .change_executor = {}};
    const std::vector<Tree> trees = Roll(&desk, desk.Requests(6), recording).trees;
    bool injected = false;
    for (const Tree& tree : trees) {
      for (const Node& node : tree.nodes) {
        for (const ToolResult& result : node.results) injected |= !result.injected.empty();
      }
    }
    EXPECT_TRUE(injected);
    const DeskSetup replaying{.strategy = strategy.get(),
                              .answers = {.mode = ToolMode::kReplay, .journal = journal}};
    EXPECT_EQ(trees, Roll(&desk, desk.Requests(6), replaying).trees);
  }
}

TEST(RolloutTest, ARunThatWasStoppedGoesOnFromItsJournal) {
  DeskPolicy desk(Trained());
  const TemporaryDirectory folder;
  for (const auto& strategy : AllStrategies()) {
    SCOPED_TRACE(strategy->traits().name);
    const std::vector<Tree> whole =
        Unmeasured(Roll(&desk, desk.Requests(6), {.strategy = strategy.get()}).trees);
    const std::shared_ptr<Journal> journal =
        Journal::Open(folder.path() / (strategy->traits().name + ".sqlite")).value();
    std::stop_source stop;
    DeskSetup setup{.strategy = strategy.get(),
                    .answers = {.mode = ToolMode::kRecord, .journal = journal}};
    setup.options.progress = [&](int64_t ended, int64_t) {
      if (ended == 20) stop.request_stop();  // many of them have called by then
    };
    const auto stopped = TryRoll(&desk, desk.Requests(6), setup, stop.get_token());
    ASSERT_FALSE(stopped.ok());
    EXPECT_EQ(stopped.error().code(), ErrorCode::kStopped);
    EXPECT_FALSE(journal->List({}, 0, 1).value().empty());
    setup.options.progress = nullptr;
    setup.timeline = NewVirtualTimeline();
    EXPECT_EQ(whole, Unmeasured(Roll(&desk, desk.Requests(6), setup).trees));
  }
}

TEST(RolloutTest, AGroupOfSixteenComputesItsPromptOnceAndOnceMoreInTraining) {
  DeskPolicy desk({.tasks = 1, .steps = 20});
  const RolloutResult result = Roll(&desk, desk.Requests(16));
  const Tree& tree = result.trees[0];
  int64_t prompt = 0, rest = 0;
  bool in_prompt = true;
  for (const Node& node : tree.nodes) {
    in_prompt &= node.author != Author::kPolicy;
    (in_prompt ? prompt : rest) += static_cast<int64_t>(node.tokens.size());
  }
  ASSERT_EQ(tree.leaves.size(), 16u);
  // The last token of the prompt is computed by each trajectory, which draws its first token from
  // it; the last one that a trajectory drew is not computed.
  EXPECT_LE(result.counts.computed_tokens, prompt + rest);
  EXPECT_GE(result.counts.computed_tokens, prompt);
  EXPECT_EQ(result.counts.tree_tokens, prompt + rest);
  EXPECT_EQ(result.counts.path_tokens, 16 * prompt + rest);
  EXPECT_GT(result.counts.SharedShare(), 0);
  const int64_t before = desk.engine().tokens_computed();
  desk.engine().Accumulate({&tree, 1}, [](std::span<TreeTerms> terms) {
    for (PathTerms& path : terms[0].paths) path.dlogprobs.back() = -1;
  });
  EXPECT_EQ(desk.engine().tokens_computed() - before, prompt + rest);
}

TEST(RolloutTest, BranchesShareTheirPrefixesAndSayHowMuch) {
  DeskPolicy desk(Trained());
  const RolloutResult chains = Roll(&desk, desk.Requests(6));
  for (const char* name : {"arpo", "portool", "tree-grpo"}) {
    SCOPED_TRACE(name);
    const auto strategy = NewStrategy(name).value();
    const RolloutResult result = Roll(&desk, desk.Requests(6), {.strategy = strategy.get()});
    EXPECT_EQ(result.counts.leaves, chains.counts.leaves);
    EXPECT_GT(result.counts.SharedShare(), chains.counts.SharedShare());
    bool deep = false;  // somewhere two turns follow the same result
    for (const Tree& tree : result.trees) {
      std::map<NodeId, int> children;
      for (const Node& node : tree.nodes) {
        if (node.parent != kNoNode && tree.nodes[node.parent].author == Author::kTool) {
          deep |= ++children[node.parent] > 1;
        }
      }
    }
    EXPECT_TRUE(deep);
  }
}

TEST(RolloutTest, RefusesWhatCouldNotBeToldApartOrNeverEnds) {
  DeskPolicy desk({.tasks = 2});
  std::vector<GroupRequest> requests = desk.Requests(2);
  requests[1].task = requests[0].task;
  EXPECT_NE(TryRoll(&desk, requests).error().message().find("scope"), std::string::npos);
  requests[1].scope = "again";
  const RolloutResult result = Roll(&desk, requests);
  EXPECT_EQ(result.counts.groups, 2);
  requests[1].leaves = 0;
  EXPECT_FALSE(TryRoll(&desk, requests).ok());
  EXPECT_FALSE(TryRoll(&desk, desk.Requests(1), {.options = {.max_live = 0}}).ok());
}

TEST(RolloutTest, CountsAddUp) {
  DeskPolicy desk(Trained());
  RolloutResult result = Roll(&desk, desk.Requests(4));
  RolloutCounts& counts = result.counts;
  int64_t sampled = 0, turns = 0, calls = 0;
  for (const Tree& tree : result.trees) {
    for (const Node& node : tree.nodes) {
      if (node.author != Author::kPolicy) continue;
      ++turns;
      sampled += static_cast<int64_t>(node.tokens.size());
      calls += static_cast<int64_t>(node.calls.size());
    }
  }
  EXPECT_EQ(counts.turns, turns);
  EXPECT_EQ(counts.sampled_tokens, sampled);
  EXPECT_EQ(counts.calls, calls);
  EXPECT_EQ(counts.unread_calls, 0);
  counts.unread_calls = 3;
  counts.unread_note = "so";
  const RolloutSeconds& s = counts.seconds;
  EXPECT_GT(s.sampling, 0);
  EXPECT_LE(s.sampling + s.waiting + s.environment + s.text, s.total);
  const double total = s.total;
  const RolloutCounts other = counts;
  counts.Add(other);
  EXPECT_EQ(counts.unread_calls, 6);
  EXPECT_EQ(counts.unread_note, "so");
  EXPECT_EQ(counts.turns, 2 * turns);
  EXPECT_EQ(counts.seconds.total, 2 * total);
  EXPECT_EQ(counts.ToJson().Find("calls")->AsInteger(), 2 * calls);
}

}  // namespace
}  // namespace hone
