#include "train/rehearsal.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/file.h"
#include "envs/agents.h"
#include "record/validate.h"
#include "rewards/compose.h"
#include "rewards/reward_options.h"
#include "rollout/demonstration.h"
#include "simulate/models/endpoint_client.h"

namespace hone {
namespace {

bool Practises(const TrainingRecipe& recipe) {
  return std::any_of(recipe.stages.begin(), recipe.stages.end(),
                     [](const auto& stage) { return stage->traits().practice; });
}

// What was said once may be all that is wanted: then nobody need be there.
Result<void> CheckEndpoint(const TrainingRecipe& recipe, bool knock) {
  if (!recipe.Simulates() || !recipe.answers.simulator) return {};
  const SimulatorOptions& simulator = *recipe.answers.simulator;
  if (simulator.kind != "endpoint") return {};
  const auto client = EndpointClient::New(simulator.model.endpoint);
  if (!client.ok()) return client.error().In("simulator");
  if (!knock || Exists(simulator.model.completions)) return {};
  const Result<void> there = client->Knock();
  return there.ok() ? Result<void>() : Result<void>(there.error().In("simulator"));
}

// A program that is an environment and does not open the first task will open no other.
Result<void> CheckOpening(const StageContext& context) {
  const TaskSource& tasks = *context.environment.tasks;
  const std::optional<uint64_t> count = tasks.count(Split::kTrain);
  if (count && *count == 0) return {};
  const Task task = tasks.Make(Split::kTrain, 0);
  const auto episode = context.environment.environment->Open(task, 0);
  if (episode.ok()) return {};
  return episode.error().In(fmt::format("the environment cannot open task \"{}\"", task.id));
}

Result<void> CheckDemonstrators(const TrainingRecipe& recipe, const StageContext& context) {
  const TaskSource& tasks = *context.environment.tasks;
  const std::optional<uint64_t> count = tasks.count(Split::kTrain);
  for (size_t i = 0; i < recipe.stages.size(); ++i) {
    const DemonstratorOptions* demonstrator = recipe.stages[i]->demonstrator();
    if (demonstrator == nullptr || demonstrator->agent != "gold") continue;
    if (count && *count == 0) continue;
    const auto agent = context.environment.gold_agent(tasks.Make(Split::kTrain, 0));
    if (agent.ok()) continue;
    return Error(agent.error().code(),
                 fmt::format("stage[{}] imitates what tasks' plans say, and {}; give tasks a "
                             "metadata.plan, name conversations to be imitated (data = "
                             "[\"chats.jsonl\"]), or leave the stage out",
                             i, agent.error().message()));
  }
  return {};
}

bool HasProgram(const RewardOptions& rewards) {
  if (rewards.command) return true;
  return rewards.sum && std::any_of(rewards.sum->begin(), rewards.sum->end(), HasProgram);
}

// One episode in which nothing is called: no tool is asked for this.
Result<Tree> OneEpisode(const StageContext& context) {
  const Task task = context.environment.tasks->Make(Split::kTrain, 0);
  const std::unique_ptr<Agent> agent = NewIdleAgent();
  HONE_ASSIGN_OR_RETURN(const Playthrough played,
                        Play(*context.environment.environment, task, 0, agent.get(),
                             context.showing->executor(), {.run = "rehearsal"}));
  return DemonstrationTree(*context.language.codec, task, 0, played);
}

Result<void> CheckRewards(const TrainingRecipe& recipe, const StageContext& context) {
  HONE_ASSIGN_OR_RETURN(const RewardOptions rewards,
                        RewardOptionsFromJson(recipe.rewards, "rewards"));
  const auto count = context.environment.tasks->count(Split::kTrain);
  if (!Practises(recipe) || !HasProgram(rewards) || (count && *count == 0)) return {};
  const Result<Tree> tree = OneEpisode(context);
  if (!tree.ok() || !Validate({*tree, {}, {}}).empty()) return {};  // nothing to be scored with
  HONE_ASSIGN_OR_RETURN(const std::unique_ptr<Rewarder> rewarder, NewRewarder(rewards));
  HONE_ASSIGN_OR_RETURN(std::vector<Score> scores, rewarder->ScoreTree(*tree, {}));
  const ScoredTree scored{*tree, std::move(scores), {}};
  return CheckJudge({&scored, 1});
}

}  // namespace

Result<void> Rehearse(const TrainingRecipe& recipe, StageContext* context, bool knock) {
  HONE_RETURN_IF_ERROR(CheckEndpoint(recipe, knock));
  if (recipe.policy.on) {
    HONE_ASSIGN_OR_RETURN(context->remote, RemoteEngine::Open(recipe.policy, knock));
  }
  HONE_RETURN_IF_ERROR(CheckOpening(*context));
  HONE_RETURN_IF_ERROR(CheckDemonstrators(recipe, *context));
  return CheckRewards(recipe, *context);
}

Result<void> CheckJudge(std::span<const ScoredTree> records) {
  const TermFault* fault = nullptr;
  int64_t leaves = 0;
  for (const ScoredTree& record : records) {
    for (const Score& score : record.scores) {
      if (Total(score)) return {};
      for (const RewardTerm& term : score.terms) {
        if (term.fault && term.fault->blame == Blame::kJudge) fault = &*term.fault;
      }
      if (!score.terms.empty()) ++leaves;
    }
  }
  if (fault == nullptr) return {};
  return Error(
      ErrorCode::kUnavailable,
      fmt::format("the reward gave nothing for {}: {}",
                  leaves == 1 ? "an episode" : fmt::format("any of {} trajectories", leaves),
                  fault->message));
}

}  // namespace hone
