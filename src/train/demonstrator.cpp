#include "train/demonstrator.h"

#include <fmt/format.h>

#include "envs/agents.h"
#include "learn/sft.h"
#include "rewards/labels.h"

namespace hone {

namespace {

// As much as there was to earn: the task was done, without a call more than it takes.
Result<bool> EarnedAll(const Demonstrator::Shown& shown) {
  if (!shown.played.success()) return false;
  HONE_ASSIGN_OR_RETURN(const Labels labels, LabelsOf(shown.task));
  if (!labels.calls) return true;
  return shown.played.CountCalls() <= static_cast<int64_t>(labels.calls->calls.size());
}

}  // namespace

Demonstrator::Demonstrator(const DemonstratorOptions& settings,
                           const LoadedEnvironment* environment, Executor* executor, uint64_t seed)
    : settings_(settings),
      environment_(environment),
      executor_(executor),
      rng_(Rng(seed).Split("demonstrations")) {}

Result<Demonstrator::Shown> Demonstrator::Show(uint64_t number) {
  const std::optional<uint64_t> count = environment_->tasks->count(Split::kTrain);
  if (count && *count == 0) return Error(ErrorCode::kNotFound, "there are no tasks to train on");
  Shown shown;
  shown.task = environment_->tasks->Make(
      Split::kTrain, count ? number % *count : environment_->tasks->NumberAt(number));
  const Rng rng = rng_.Split(number);
  shown.seed = rng.Split("episode").NextU64();
  std::unique_ptr<Agent> agent;
  if (settings_.agent == "teacher") {
    HONE_ASSIGN_OR_RETURN(
        agent, environment_->teacher(shown.task, settings_.teacher_error, rng.Split("teacher")));
  } else if (settings_.agent == "idle") {
    agent = NewIdleAgent();
  } else {
    HONE_ASSIGN_OR_RETURN(agent, environment_->gold_agent(shown.task));
  }
  HONE_ASSIGN_OR_RETURN(
      shown.played, Play(*environment_->environment, shown.task, shown.seed, agent.get(), executor_,
                         {.run = "demonstration", .path = fmt::format("{}", number)}));
  return shown;
}

Result<std::optional<Tree>> Demonstrator::ShowTree(uint64_t number, const TurnCodec& codec) {
  HONE_ASSIGN_OR_RETURN(const Shown shown, Show(number));
  // What broke by somebody else's fault shows nothing.
  if (shown.played.ending == Ending::kFailed) return std::optional<Tree>();
  if (settings_.successful_only) {
    HONE_ASSIGN_OR_RETURN(const bool earned_all, EarnedAll(shown));
    if (!earned_all) return std::optional<Tree>();
  }
  HONE_ASSIGN_OR_RETURN(Tree tree, DemonstrationTree(codec, shown.task, shown.seed, shown.played));
  return std::optional<Tree>(std::move(tree));
}

Result<Tree> Demonstrator::WantedTree(uint64_t number, const TurnCodec& codec) {
  constexpr uint64_t kTries = 100, kFarAway = uint64_t{1} << 40;
  // Far from what others ask for; of a list of tasks, which begins anew at its end, the next one.
  const uint64_t count = environment_->tasks->count(Split::kTrain).value_or(0);
  const uint64_t apart = count == 0 ? kFarAway : kFarAway / count * count + 1;
  for (uint64_t attempt = 0; attempt < kTries; ++attempt) {
    HONE_ASSIGN_OR_RETURN(std::optional<Tree> tree, ShowTree(number + attempt * apart, codec));
    if (tree) return ForImitation(*tree);
  }
  return Error(ErrorCode::kInvalidArgument,
               fmt::format("none of {} demonstrations ended well; see whether the environment's "
                           "tasks can be done (hone env check)",
                           kTries));
}

}  // namespace hone
