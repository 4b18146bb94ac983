#include "evaluate/suites/suite_run.h"

#include <algorithm>
#include <atomic>
#include <thread>

#include <fmt/format.h>

#include "base/mutex.h"
#include "envs/play.h"
#include "evaluate/endpoint_agent.h"
#include "rollout/chains.h"
#include "rollout/rollout.h"
#include "tools/modes.h"

namespace hone {
namespace {

// Where a suite is played, with its tools.
Result<std::shared_ptr<const Environment>> OpenEnvironment(
    const std::shared_ptr<const Suite>& suite, const SuiteRunOptions& options) {
  HONE_ASSIGN_OR_RETURN(std::shared_ptr<const Toolbox> tools, SuiteTools(*suite, options.names));
  return NewSuiteEnvironment(suite, std::move(tools), options.names, options.max_turns);
}

// Whoever answers one thread's calls, with the faults between the tools and the model.
struct SuiteAnswers {
  std::unique_ptr<Timeline> timeline;
  std::unique_ptr<Executor> executor;  // before the timeline it runs on is gone
};

Result<SuiteAnswers> OpenAnswers(const Suite& suite, const Environment& environment,
                                 const SuiteRunOptions& options) {
  SuiteAnswers answers;
  // A calculator answers at once; then a fault that takes a minute takes none.
  const bool at_once =
      std::find(suite.tools.begin(), suite.tools.end(), "python") == suite.tools.end();
  answers.timeline = at_once ? NewVirtualTimeline() : NewRealTimeline();
  HONE_ASSIGN_OR_RETURN(ExecutorOptions executor,
                        OptionsFor({.faults = options.faults, .seed = options.seed},
                                   *environment.tools(), answers.timeline.get()));
  answers.executor = std::make_unique<Executor>(std::move(executor), answers.timeline.get());
  return answers;
}

uint64_t SeedOf(uint64_t seed, const std::string& id) {
  return Rng(seed).Split("suite").Split(id).NextU64();
}

void CountResults(const std::vector<ToolResult>& results, bool answered, SuiteOutcome* outcome) {
  if (!answered) return;  // nobody answers tools that are only shown
  for (const ToolResult& result : results) {
    outcome->tool_errors += result.status == CallStatus::kOk ? 0 : 1;
  }
}

void Finish(const Json& final_state, SuiteOutcome* outcome) {
  SuiteEnd end = SuiteEndOf(final_state);
  outcome->output = std::move(end.output);
  outcome->verdict = std::move(end.verdict);
}

SuiteOutcome OfLeaf(const Tree& tree, const Leaf& leaf, bool plays) {
  SuiteOutcome outcome;
  if (leaf.ending == Ending::kFailed || leaf.ending == Ending::kInterrupted) {
    outcome.measured = false;
    outcome.problem = fmt::format("the fault of others ({})", BlameName(leaf.blame));
  }
  for (const NodeId id : WholePathTo(tree, leaf.node)) {
    const Node& node = tree.nodes[static_cast<size_t>(id)];
    if (node.author == Author::kPolicy) {
      ++outcome.turns;
      outcome.calls += static_cast<int64_t>(node.calls.size());
      outcome.tokens.completion += static_cast<int64_t>(node.tokens.size());
    } else {
      outcome.tokens.prompt += static_cast<int64_t>(node.tokens.size());
    }
    CountResults(node.results, plays, &outcome);
  }
  Finish(leaf.final_state, &outcome);
  return outcome;
}

// Nothing was drawn: the prompt does not fit the model, or cannot be spelled for it.
SuiteOutcome NotTaken(std::string problem) {
  SuiteOutcome outcome;
  outcome.problem = std::move(problem);
  outcome.verdict.error_type = "prompt_not_taken";
  return outcome;
}

// Plays samples of cases against an endpoint.
class EndpointRun {
 public:
  EndpointRun(std::shared_ptr<const Suite> suite, const SuiteRunOptions& options,
              const SuiteEndpointOptions& endpoint, ChatModel* model)
      : suite_(std::move(suite)),
        options_(options),
        endpoint_(endpoint),
        model_(model),
        outcomes_(suite_->cases.size() * static_cast<size_t>(options.samples)) {}

  Result<SuiteOutcomes> Run() {
    HONE_ASSIGN_OR_RETURN(environment_, OpenEnvironment(suite_, options_));
    {
      HONE_ASSIGN_OR_RETURN(const SuiteAnswers answers,
                            OpenAnswers(*suite_, *environment_, options_));
      HONE_RETURN_IF_ERROR(One(0, answers.executor.get()));
    }
    if (!outcomes_[0].measured) {
      return Error(ErrorCode::kUnavailable,
                   fmt::format("{} cannot be asked: {}", model_->name(), outcomes_[0].problem));
    }
    next_ = 1;
    {
      std::vector<std::jthread> workers;
      for (int64_t i = 0; i < endpoint_.at_once; ++i) {
        workers.emplace_back([this] { Work(); });
      }
    }
    MutexLock lock(mutex_);
    if (failure_) return *failure_;
    return std::move(outcomes_);
  }

 private:
  void Work() {
    const auto answers = OpenAnswers(*suite_, *environment_, options_);
    Result<void> done = answers.ok() ? Result<void>() : Result<void>(answers.error());
    while (done.ok()) {
      const size_t index = next_++;
      if (index >= outcomes_.size()) return;
      done = One(index, answers->executor.get());
    }
    next_ = outcomes_.size();  // the others may stop, too
    MutexLock lock(mutex_);
    if (!failure_) failure_ = done.error();
  }

  Result<void> One(size_t index, Executor* executor) {
    const auto samples = static_cast<size_t>(options_.samples);
    const SuiteCase& one = suite_->cases[index / samples];
    const size_t sample = index % samples;
    const uint64_t seed = Rng(SeedOf(options_.seed, one.id)).Split(sample).NextU64();
    EndpointAgent agent(
        model_,
        {.temperature = endpoint_.temperature, .max_tokens = endpoint_.max_tokens, .seed = seed});
    HONE_ASSIGN_OR_RETURN(
        const Playthrough played,
        Play(*environment_, SuiteTask(one), seed, &agent, executor,
             {.run = "suite", .path = std::to_string(sample)}, options_.max_turns));
    SuiteOutcome outcome;
    outcome.measured = !agent.left();
    outcome.problem = agent.problem();
    outcome.tokens = agent.tokens();
    outcome.money = agent.money();
    outcome.latency_us = agent.latency_us();
    outcome.turns = static_cast<int64_t>(played.turns.size());
    outcome.calls = played.CountCalls();
    for (const PlayedTurn& turn : played.turns) {
      CountResults(turn.agent.results, !one.plays_with.empty(), &outcome);
    }
    Finish(played.final_state, &outcome);
    outcomes_[index] = std::move(outcome);
    MutexLock lock(mutex_);
    ++ended_;
    if (options_.progress) {
      options_.progress(ended_, static_cast<int64_t>(outcomes_.size()));
    }
    return {};
  }

  const std::shared_ptr<const Suite> suite_;
  const SuiteRunOptions& options_;
  const SuiteEndpointOptions& endpoint_;
  ChatModel* const model_;
  std::shared_ptr<const Environment> environment_;
  SuiteOutcomes outcomes_;  // each written by one thread
  std::atomic<size_t> next_ = 0;
  Mutex mutex_;
  int64_t ended_ HONE_GUARDED_BY(mutex_) = 0;
  std::optional<Error> failure_ HONE_GUARDED_BY(mutex_);
};

}  // namespace

Result<SuiteOutcomes> RunSuite(std::shared_ptr<const Suite> suite, const SuiteRunOptions& options,
                               const Policy& policy, std::stop_token stop) {
  HONE_ASSIGN_OR_RETURN(const auto environment, OpenEnvironment(suite, options));
  HONE_ASSIGN_OR_RETURN(const SuiteAnswers answers, OpenAnswers(*suite, *environment, options));
  std::vector<GroupRequest> requests;
  for (const SuiteCase& one : suite->cases) {
    GroupRequest& request = requests.emplace_back();
    request.task = SuiteTask(one);
    request.seed = SeedOf(options.seed, one.id);
    request.leaves = options.samples;
    request.scope = std::to_string(requests.size());
  }
  const std::unique_ptr<Strategy> chains = NewChains();
  RolloutOptions how{.run = "suite"};
  if (options.progress) {
    how.progress = [&, all = static_cast<int64_t>(requests.size()) * options.samples](
                       int64_t ended, int64_t) { options.progress(ended, all); };
  }
  HONE_ASSIGN_OR_RETURN(const Rollout rollout,
                        Rollout::New(std::move(how), environment.get(), policy, chains.get(),
                                     answers.executor.get()));
  HONE_ASSIGN_OR_RETURN(const RolloutResult result, rollout.Run(requests, stop));
  SuiteOutcomes outcomes;
  for (size_t i = 0; i < requests.size(); ++i) {
    const Tree& tree = result.trees[i];
    const std::string& problem = result.groups[i].problem;
    for (size_t sample = 0; sample < static_cast<size_t>(options.samples); ++sample) {
      if (sample < tree.leaves.size()) {
        outcomes.push_back(OfLeaf(tree, tree.leaves[sample], !suite->cases[i].plays_with.empty()));
      } else if (result.groups[i].dropped > 0) {
        SuiteOutcome& lost = outcomes.emplace_back();
        lost.measured = false;
        lost.problem = problem.empty() ? "it was broken by others" : problem;
      } else {
        outcomes.push_back(NotTaken(problem));
      }
    }
  }
  return outcomes;
}

Result<SuiteOutcomes> RunSuite(std::shared_ptr<const Suite> suite, const SuiteRunOptions& options,
                               const SuiteEndpointOptions& endpoint, ChatModel* model) {
  if (suite->cases.empty()) return SuiteOutcomes();
  return EndpointRun(std::move(suite), options, endpoint, model).Run();
}

}  // namespace hone
