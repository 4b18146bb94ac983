#include "evaluate/policy_evaluation.h"

#include <algorithm>

#include <fmt/format.h>

namespace hone {
namespace {

std::string FamilyOf(const Task& task) {
  for (const char* key : {"family", "kind"}) {
    const Json* name = task.metadata.Find(key);
    if (name != nullptr && name->is_string()) return name->AsString();
  }
  return "";
}

}  // namespace

Json Evaluation::ToJson() const {
  Json::Object families;
  for (const auto& [family, conduct] : by_family) families.emplace_back(family, conduct.ToJson());
  return Json::Of({{"split", SplitName(split)},
                   {"temperature", static_cast<double>(temperature)},
                   {"tasks", tasks},
                   {"broken", broken},
                   {"all", all.ToJson()},
                   {"families", std::move(families)},
                   {"seconds", seconds}});
}

Result<Evaluation> EvaluatePolicy(const EvaluationOptions& options,
                                  const LoadedEnvironment& environment, const Policy& policy,
                                  Executor* executor, std::stop_token stop) {
  Evaluation evaluation;
  evaluation.split = options.split;
  evaluation.temperature = policy.options().sampling.temperature;
  const uint64_t there =
      environment.tasks->count(options.split).value_or(static_cast<uint64_t>(options.tasks));
  const uint64_t count = std::min(there, static_cast<uint64_t>(options.tasks));
  if (count == 0) {
    return Error(ErrorCode::kNotFound,
                 fmt::format("there are no tasks in {}", SplitName(options.split)));
  }
  const Rng rng = Rng(options.seed).Split("evaluation").Split(SplitName(options.split));
  std::vector<GroupRequest> requests(count);
  for (uint64_t i = 0; i < count; ++i) {
    requests[i].task = environment.tasks->Make(options.split, i);
    requests[i].seed = rng.Split(i).NextU64();
    requests[i].scope = fmt::format("{}", i);
  }
  const std::unique_ptr<Strategy> chains = NewChains();
  HONE_ASSIGN_OR_RETURN(
      const Rollout rollout,
      Rollout::New({.run = options.run, .max_live = options.max_live},
                   environment.environment.get(), policy, chains.get(), executor));
  HONE_ASSIGN_OR_RETURN(const RolloutResult result, rollout.Run(requests, stop));
  evaluation.tasks = static_cast<int64_t>(count);
  evaluation.counts = result.counts;
  evaluation.seconds = result.counts.seconds.total;
  for (const Tree& tree : result.trees) {
    Conduct conduct;
    if (!tree.leaves.empty()) {
      HONE_ASSIGN_OR_RETURN(conduct, ConductOf(tree));
    }
    if (conduct.trajectories == 0) {
      ++evaluation.broken;
      continue;
    }
    evaluation.all.Add(conduct);
    evaluation.by_family[FamilyOf(tree.task)].Add(conduct);
  }
  return evaluation;
}

}  // namespace hone
