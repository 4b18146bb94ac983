#include "rollout/scheduler.h"

#include <algorithm>
#include <map>
#include <set>

#include <gtest/gtest.h>

#include "rollout/arpo.h"
#include "rollout/chains.h"
#include "rollout/strategies.h"
#include "support/desk_rollout.h"
#include "support/scripted_toolkit.h"

namespace hone {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

DeskPolicy::Options Trained() { return {.tasks = 6, .steps = 160}; }

// Only tasks that are done with calls.
std::vector<GroupRequest> CallingRequests(const DeskPolicy& desk, int64_t leaves) {
  std::vector<GroupRequest> requests;
  for (size_t i = 0; i < desk.tasks().size(); ++i) {
    if (desk.demonstrations()[i].CountCalls() > 0) requests.push_back(desk.Requests(leaves)[i]);
  }
  return requests;
}

// Breaks the calls of some trajectories.
class BreakingResponder final : public Responder {
 public:
  BreakingResponder(std::function<bool(const CallIdentity&)> breaks, Blame blame)
      : breaks_(std::move(breaks)), blame_(blame) {}
  void Answer(std::shared_ptr<const CallAttempt> attempt, Reply reply) override {
    if (!breaks_(attempt->identity)) return reply(std::nullopt);
    reply(RoutedReply{.reply = Unavailable("gone", blame_), .source = CallSource::kSimulator});
  }

 private:
  const std::function<bool(const CallIdentity&)> breaks_;
  const Blame blame_;
};

// Ends some calls itself.
class EndingResponder final : public Responder {
 public:
  using Ends = std::function<std::optional<ToolReply>(const CallAttempt&)>;
  explicit EndingResponder(Ends ends) : ends_(std::move(ends)) {}
  void Answer(std::shared_ptr<const CallAttempt> attempt, Reply reply) override {
    std::optional<ToolReply> ended = ends_(*attempt);
    if (!ended) return reply(std::nullopt);
    reply(RoutedReply{.reply = *std::move(ended), .source = CallSource::kJournal});
  }

 private:
  const Ends ends_;
};

DeskSetup Breaking(std::function<bool(const CallIdentity&)> breaks,
                   Blame blame = Blame::kSimulator) {
  DeskSetup setup;
  setup.sampling = {.temperature = 1, .forbidden_set = 1};
  setup.change_executor = [=](ExecutorOptions* options) {
    options->responders.insert(options->responders.begin(),
                               std::make_shared<BreakingResponder>(breaks, blame));
  };
  return setup;
}

TEST(SchedulerTest, ATrajectoryThatSomebodyElseBrokeIsBegunAgainUnderANewName) {
  DeskPolicy desk(Trained());
  const std::vector<GroupRequest> requests = CallingRequests(desk, 4);
  const RolloutResult result = Roll(&desk, requests, Breaking([](const CallIdentity& identity) {
    return identity.path == "1" || identity.path == "1~1";
  }));
  ExpectSound(&desk, result.trees);
  const auto groups = static_cast<int64_t>(requests.size());
  EXPECT_EQ(result.counts.leaves, 4 * groups);
  EXPECT_GT(result.counts.retries, groups);
  EXPECT_EQ(result.counts.faults.at("simulator"), result.counts.retries);
  EXPECT_EQ(result.counts.dropped, 0);
  EXPECT_EQ(result.groups[0].paths, std::vector<std::string>({"0", "1~2", "2", "3"}));
  // The others are what they are without.
  DeskSetup calm;
  calm.sampling = {.temperature = 1, .forbidden_set = 1};
  const RolloutResult unbroken = Roll(&desk, requests, calm);
  const auto tokens = [](const Tree& tree, size_t leaf) {
    return TokensOf(tree, PathTo(tree, tree.leaves[leaf].node));
  };
  for (const size_t leaf : {0, 2, 3}) {
    EXPECT_EQ(tokens(result.trees[0], leaf), tokens(unbroken.trees[0], leaf));
  }
}

TEST(SchedulerTest, WhatKeepsBreakingLeavesItsGroupAndIsCounted) {
  DeskPolicy desk(Trained());
  const std::vector<GroupRequest> requests = CallingRequests(desk, 4);
  DeskSetup setup = Breaking([&](const CallIdentity& identity) {
    return identity.path.starts_with("1") || identity.task == requests[0].task.id;
  });
  setup.sampling.temperature = 0;  // so that everybody calls
  const RolloutResult result = Roll(&desk, requests, setup);
  EXPECT_EQ(result.counts.dropped, 4 + static_cast<int64_t>(requests.size()) - 1);
  EXPECT_EQ(result.groups[0].dropped, 4);
  EXPECT_TRUE(result.trees[0].nodes.empty());
  EXPECT_TRUE(result.trees[0].leaves.empty());
  EXPECT_NE(result.groups[0].problem.find("gone"), std::string::npos);
  for (size_t i = 1; i < requests.size(); ++i) {
    EXPECT_EQ(result.groups[i].paths, std::vector<std::string>({"0", "2", "3"}));
    EXPECT_EQ(Validate({result.trees[i], {}, {}}), std::vector<std::string>());
  }
}

// The desk, but what its tools do cannot be taken back.
class LastingEnvironment final : public Environment {
 public:
  explicit LastingEnvironment(const Environment& inner) : inner_(inner) {
    auto lasting = std::make_shared<ScriptedToolkit>();
    for (const Toolbox::Tool& tool : inner.tools()->tools()) {
      ToolSpec spec = tool.spec;
      spec.effect = Effect::kIrreversible;
      spec.resource = "world";
      lasting->Add(spec, [](const Json&, const CallLimits&) { return Answered("done"); });
    }
    tools_ = ToolboxOf({lasting});
  }
  const EnvironmentTraits& traits() const override { return inner_.traits(); }
  const std::shared_ptr<const Toolbox>& tools() const override { return tools_; }
  Result<std::unique_ptr<Episode>> Open(const Task& task, uint64_t seed) const override {
    return inner_.Open(task, seed);
  }

 private:
  const Environment& inner_;
  std::shared_ptr<const Toolbox> tools_;
};

TEST(SchedulerTest, ATrajectoryThatMayHaveActedIsNotBegunAgain) {
  DeskPolicy desk(Trained());
  const LastingEnvironment environment(desk.environment());
  const std::vector<GroupRequest> requests = CallingRequests(desk, 4);
  const auto chains = NewChains();
  // How the calls of trajectory 1 end, whether in earnest, and whether it is begun again.
  struct Case {
    CallStatus status;
    Blame blame;
    bool in_earnest, again;
  };
  for (const Case& one : {Case{CallStatus::kInterrupted, Blame::kInfrastructure, true, false},
                          Case{CallStatus::kInterrupted, Blame::kInfrastructure, false, true},
                          Case{CallStatus::kUnavailable, Blame::kInfrastructure, true, true}}) {
    const auto timeline = NewVirtualTimeline();
    ExecutorOptions executing = OptionsFor({}, *environment.tools(), timeline.get()).value();
    std::map<std::string, int64_t> asked;  // by path
    executing.responders.insert(
        executing.responders.begin(),
        std::make_shared<EndingResponder>([&](const CallAttempt& attempt) {
          ++asked[attempt.identity.path];
          return attempt.identity.path == "1"
                     ? std::optional(ToolReply{.status = one.status, .blame = one.blame})
                     : std::nullopt;
        }));
    Executor executor(std::move(executing), timeline.get());
    const Rollout rollout =
        Rollout::New({.in_earnest = one.in_earnest}, &environment,
                     desk.Make({.temperature = 0, .forbidden_set = 1}), chains.get(), &executor)
            .value();
    const RolloutResult result = rollout.Run(requests).value();
    const auto groups = static_cast<int64_t>(requests.size());
    EXPECT_EQ(result.counts.faults.at("infrastructure"), groups);
    EXPECT_EQ(result.counts.retries, one.again ? groups : 0);
    EXPECT_EQ(result.counts.dropped, one.again ? 0 : groups);
    EXPECT_EQ(asked.contains("1~1"), one.again);
    EXPECT_EQ(asked["1"], groups);
  }
}

TEST(SchedulerTest, ABranchThatBreaksIsBegunAgainWhereItParted) {
  DeskPolicy desk(Trained());
  const auto arpo = NewArpo({.initial = 2, .branch_probability = 1}).value();
  DeskSetup setup = Breaking([](const CallIdentity& identity) {
    return identity.path.ends_with("/1") || identity.path == "0";
  });
  setup.strategy = arpo.get();
  const RolloutResult result = Roll(&desk, CallingRequests(desk, 6), setup);
  ExpectSound(&desk, result.trees);
  EXPECT_GT(result.counts.retries, 0);
  std::set<std::string> names;
  for (const GroupReport& group : result.groups) {
    names.insert(group.paths.begin(), group.paths.end());
  }
  EXPECT_TRUE(names.contains("0~1"));
  EXPECT_TRUE(std::any_of(names.begin(), names.end(),
                          [](const std::string& name) { return name.ends_with("/1~1"); }));
}

TEST(SchedulerTest, FaultsOfToolsAreTheAgentsToCopeWith) {
  DeskPolicy desk(Trained());
  const RolloutResult result =
      Roll(&desk, CallingRequests(desk, 2),
           Breaking([](const CallIdentity&) { return true; }, Blame::kTool));
  EXPECT_EQ(result.counts.retries, 0);
  EXPECT_GT(result.counts.tool_errors, 0);
  EXPECT_EQ(result.counts.dropped, 0);
}

TEST(SchedulerTest, OneHungToolInAHundredCostsItsDeadlineOnly) {
  DeskPolicy desk(Trained());
  std::vector<GroupRequest> requests = CallingRequests(desk, 34);
  requests.resize(3);
  DeskSetup setup;
  setup.sampling = {.temperature = 1, .forbidden_set = 1};
  const auto quick = [](const CallAttempt&) {
    return std::optional(Clock::Duration(milliseconds(100)));
  };
  setup.latency = quick;
  const RolloutResult all = Roll(&desk, requests, setup);
  const Clock::Duration usual = setup.timeline->Now();
  EXPECT_LT(usual, seconds(3));

  setup.timeline = NewVirtualTimeline();
  setup.latency = [&](const CallAttempt& attempt) {
    const bool hangs = attempt.identity.task == requests[1].task.id &&
                       attempt.identity.path == "7" && attempt.identity.turn == 0;
    return hangs ? std::nullopt : quick(attempt);
  };
  const RolloutResult one_hung = Roll(&desk, requests, setup);
  EXPECT_LT(setup.timeline->Now(), ToolLimits{}.deadline + usual);
  EXPECT_GE(setup.timeline->Now(), ToolLimits{}.deadline);
  EXPECT_EQ(one_hung.counts.leaves, 102);
  EXPECT_EQ(all.trees[0], one_hung.trees[0]);
  EXPECT_EQ(all.trees[2], one_hung.trees[2]);
  int64_t timeouts = 0;
  for (const Node& node : one_hung.trees[1].nodes) {
    for (const ToolResult& result : node.results) {
      timeouts += result.status == CallStatus::kTimeout;
    }
  }
  EXPECT_EQ(timeouts, 1);
}

// Every trajectory has one call at a time; all calls take 100 ms.
struct Load {
  size_t most_at_a_time = 0;
  std::vector<std::string> tasks;  // in the order of their first call
};
Load LoadOf(DeskPolicy* desk, int64_t max_live, const Strategy* strategy) {
  DeskSetup setup;
  setup.options.max_live = max_live;
  setup.strategy = strategy;
  std::vector<Clock::Duration> begins;
  Load load;
  setup.latency = [&, timeline = setup.timeline](const CallAttempt& attempt) {
    begins.push_back(timeline->Now());
    const std::string& task = attempt.identity.task;
    if (std::find(load.tasks.begin(), load.tasks.end(), task) == load.tasks.end()) {
      load.tasks.push_back(task);
    }
    return std::optional(Clock::Duration(milliseconds(100)));
  };
  Roll(desk, CallingRequests(*desk, 8), setup);
  for (const Clock::Duration at : begins) {
    const auto overlapping = std::count_if(
        begins.begin(), begins.end(),
        [&](Clock::Duration other) { return other <= at && at < other + milliseconds(100); });
    load.most_at_a_time = std::max(load.most_at_a_time, static_cast<size_t>(overlapping));
  }
  return load;
}

TEST(SchedulerTest, NoMoreTrajectoriesAreUnderWayThanAllowedAndGroupsBeginInTheirOrder) {
  DeskPolicy desk(Trained());
  std::vector<std::string> order;
  for (const GroupRequest& request : CallingRequests(desk, 1)) order.push_back(request.task.id);
  for (const char* name : {"chains", "portool"}) {
    const auto strategy = NewStrategy(name).value();
    const Load three = LoadOf(&desk, 3, strategy.get());
    EXPECT_LE(three.most_at_a_time, 3u);
    EXPECT_EQ(three.tasks, order);
    EXPECT_GT(LoadOf(&desk, 64, strategy.get()).most_at_a_time, 8u);
  }
}

// The desk, but with somebody behind it who is asked after each turn.
class AskingEpisode final : public Episode {
 public:
  explicit AskingEpisode(std::unique_ptr<Episode> inner) : inner_(std::move(inner)) {}
  const Opening& opening() const override { return inner_->opening(); }
  EnvironmentTurn Step(const AgentTurn& turn) override {
    EnvironmentTurn reply = inner_->Step(turn);
    if (!reply.ending) reply.calls = {{"oracle", Json::Of({{"turn", turn.tokens}}), {}}};
    return reply;
  }
  EnvironmentTurn Resume(const std::vector<ToolResult>& results) override {
    EnvironmentTurn reply;
    reply.user = results[0].content;
    if (++asked_ % 2 == 1) reply.calls = {{"oracle", Json::Of({{"again", true}}), {}}};
    return reply;
  }
  Json final_state() const override { return inner_->final_state(); }
  Result<std::unique_ptr<Episode>> Clone() const override {
    return Error(ErrorCode::kUnsupported, "an oracle is not copied");
  }

 private:
  const std::unique_ptr<Episode> inner_;
  int asked_ = 0;
};

class AskingEnvironment final : public Environment {
 public:
  AskingEnvironment(const Environment& inner, Sharing sharing) : inner_(inner) {
    traits_ = inner.traits();
    traits_.hidden_tools = {"oracle"};
    auto oracle = std::make_shared<ScriptedToolkit>();
    oracle->Add("oracle", Effect::kReads, [](const Json& arguments, const CallLimits&) {
      return Answered("the oracle says " + DumpJson(arguments));
    });
    std::vector<Toolbox::Kit> kits = inner.tools()->kits();
    kits.push_back({oracle, {}});
    kits.push_back({std::make_shared<SumToolkit>(sharing), {}});
    tools_ = std::make_shared<const Toolbox>(Toolbox::Of(std::move(kits)).value());
  }
  const EnvironmentTraits& traits() const override { return traits_; }
  const std::shared_ptr<const Toolbox>& tools() const override { return tools_; }
  Result<std::unique_ptr<Episode>> Open(const Task& task, uint64_t seed) const override {
    HONE_ASSIGN_OR_RETURN(std::unique_ptr<Episode> inner, inner_.Open(task, seed));
    return std::unique_ptr<Episode>(std::make_unique<AskingEpisode>(std::move(inner)));
  }

 private:
  const Environment& inner_;
  EnvironmentTraits traits_;
  std::shared_ptr<const Toolbox> tools_;
};

TEST(SchedulerTest, TheEnvironmentsOwnCallsAreAnsweredBeforeTheAgentGoesOn) {
  DeskPolicy desk(Trained());
  const AskingEnvironment environment(desk.environment(), Sharing::kClone);
  const auto timeline = NewVirtualTimeline();
  ExecutorOptions executing = OptionsFor({}, *environment.tools(), timeline.get()).value();
  std::set<CallIdentity> own;
  executing.responders[0] = std::make_shared<LateResponder>(
      executing.responders[0],
      [&](const CallAttempt& attempt) {
        const bool oracle = attempt.content.tool == "oracle";
        EXPECT_TRUE(!oracle || own.insert(attempt.identity).second);
        return std::optional(Clock::Duration(milliseconds(1)));
      },
      timeline.get());
  Executor executor(std::move(executing), timeline.get());
  const auto chains = NewChains();
  const Rollout rollout =
      Rollout::New({}, &environment, desk.Make(), chains.get(), &executor).value();
  const RolloutResult result = rollout.Run(CallingRequests(desk, 2)).value();
  ExpectSound(&desk, result.trees);
  EXPECT_GT(result.counts.environment_calls, 0);
  EXPECT_EQ(result.counts.environment_calls, static_cast<int64_t>(own.size()));
  for (const CallIdentity& identity : own) EXPECT_TRUE(identity.path.ends_with("/environment"));
  bool heard = false;
  for (const Node& node : result.trees[0].nodes) {
    if (node.author == Author::kPolicy || node.parent == kNoNode) continue;
    const std::string text = desk.tokenizer().Decode(node.tokens);
    heard |= text.find("the oracle says {\"again\":true}") != std::string::npos;
  }
  EXPECT_TRUE(heard);
}

TEST(SchedulerTest, BranchingIsRefusedBeforeTheRunWhereThingsCannotBeHadTwice) {
  DeskPolicy desk({.tasks = 2});
  const auto arpo = NewArpo({}).value();
  const auto timeline = NewVirtualTimeline();
  for (const Sharing sharing : {Sharing::kOnce, Sharing::kClone}) {
    const AskingEnvironment environment(desk.environment(), sharing);
    Executor executor(OptionsFor({}, *environment.tools(), timeline.get()).value(), timeline.get());
    const auto rollout = Rollout::New({}, &environment, desk.Make(), arpo.get(), &executor);
    if (sharing == Sharing::kOnce) {
      ASSERT_FALSE(rollout.ok());
      EXPECT_NE(rollout.error().message().find("\"add\""), std::string::npos);
      continue;
    }
    const int64_t before = desk.engine().tokens_computed();
    const auto result = rollout->Run(desk.Requests(4));
    ASSERT_FALSE(result.ok());
    EXPECT_NE(result.error().message().find("an oracle is not copied"), std::string::npos);
    EXPECT_EQ(desk.engine().tokens_computed(), before);
  }
}

TEST(SchedulerTest, APolicyThatKnowsNothingEndsByTheRulesAndItsTreesAreSound) {
  DeskPolicy desk({.tasks = 4, .positions = 3000});
  const RolloutResult result = Roll(&desk, desk.Requests(3));
  ExpectSound(&desk, result.trees);
  EXPECT_EQ(result.counts.endings.at("turn_limit"), 12);  // 8 turns, says the desk
  EXPECT_EQ(result.counts.turns, 12 * 8);
}

TEST(SchedulerTest, AFullContextEndsATrajectory) {
  DeskPolicy desk({.tasks = 4, .positions = 128});
  const RolloutResult result = Roll(&desk, desk.Requests(3));
  ExpectSound(&desk, result.trees);
  EXPECT_EQ(result.counts.endings.at("token_limit"), 12);
}

TEST(SchedulerTest, WhatIsWrongWithATaskIsItsGroupsProblem) {
  DeskPolicy desk(Trained());
  std::vector<GroupRequest> requests = desk.Requests(2);
  requests[1].task.answer = 5;
  requests[2].task.messages =
      Json::Array({Json::Of({{"role", "user"}, {"content", std::string(3000, 'x')}})});
  const RolloutResult result = Roll(&desk, requests);
  EXPECT_NE(result.groups[1].problem.find("\"answer\" must be a text"), std::string::npos);
  EXPECT_TRUE(result.trees[1].nodes.empty());
  EXPECT_NE(result.groups[2].problem, "");
  EXPECT_EQ(result.counts.leaves, 2 * (static_cast<int64_t>(requests.size()) - 2));
}

// Calls that take no time hold nobody up: a rollout takes as many passes as its longest trajectory
// has tokens, and a few for what is appended between its turns.
TEST(SchedulerTest, TrajectoriesDrawTheirNextTurnsTogether) {
  DeskPolicy desk(Trained());
  DeskSetup setup;
  setup.sampling = {.temperature = 1, .forbidden_set = 1};
  const RolloutResult result = Roll(&desk, CallingRequests(desk, 8), setup);
  int64_t longest = 0;
  for (const Tree& tree : result.trees) {
    for (const Leaf& leaf : tree.leaves) {
      int64_t drawn = 0;
      for (const NodeId node : WholePathTo(tree, leaf.node)) {
        const Node& of = tree.nodes[static_cast<size_t>(node)];
        if (of.author == Author::kPolicy) drawn += static_cast<int64_t>(of.tokens.size());
      }
      longest = std::max(longest, drawn);
    }
  }
  EXPECT_GT(result.counts.turns, result.counts.leaves) << "somebody made calls";
  EXPECT_LE(result.counts.passes, longest + 8);
}

TEST(SchedulerTest, ProgressEndsWithEverybodyEnded) {
  DeskPolicy desk({.tasks = 3});
  int64_t last_ended = 0, last_wanted = 0;
  DeskSetup setup;
  setup.options.progress = [&](int64_t ended, int64_t wanted) {
    EXPECT_EQ(ended, last_ended + 1);
    EXPECT_LE(ended, wanted);
    last_ended = ended;
    last_wanted = wanted;
  };
  Roll(&desk, desk.Requests(5), setup);
  EXPECT_EQ(last_ended, 15);
  EXPECT_EQ(last_wanted, 15);
}

}  // namespace
}  // namespace hone
