#include "learn/demonstrator.h"

#include <fmt/format.h>

#include "envs/desk/teacher.h"

namespace hone {

Demonstrator::Demonstrator(const DemonstratorSettings& settings,
                           const LoadedEnvironment* environment, Executor* executor, uint64_t seed)
    : settings_(settings),
      environment_(environment),
      executor_(executor),
      rng_(Rng(seed).Split("demonstrations")) {}

Result<Demonstrator::Shown> Demonstrator::Show(uint64_t number) {
  const std::optional<uint64_t> count = environment_->tasks->count(Split::kTrain);
  if (count && *count == 0) return Error(ErrorCode::kNotFound, "there are no tasks to train on");
  Shown shown;
  shown.task = environment_->tasks->Make(Split::kTrain, count ? number % *count : number);
  const Rng rng = rng_.Split(number);
  shown.seed = rng.Split("episode").NextU64();
  std::unique_ptr<Agent> agent;
  if (settings_.agent == "teacher") {
    HONE_ASSIGN_OR_RETURN(
        agent, desk::NewTeacher(shown.task, settings_.teacher_error, rng.Split("teacher")));
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
  if (settings_.successful_only && !shown.played.success()) return std::optional<Tree>();
  HONE_ASSIGN_OR_RETURN(Tree tree, DemonstrationTree(codec, shown.task, shown.seed, shown.played));
  return std::optional<Tree>(std::move(tree));
}

}  // namespace hone
