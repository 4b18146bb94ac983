#include "evaluate/policy_evaluation.h"

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "rollout/chains.h"

namespace hone {
namespace {

using Groups = std::map<std::string, std::vector<Measures>>;

std::string FamilyOf(const Measures& m) { return m.family.empty() ? m.kind : m.family; }
std::string KindOf(const Measures& m) { return m.kind; }
std::string EnvironmentNameOf(const Measures& m) { return m.environment; }

// The numbers that programs look for first; what there was nothing to count of is absent.
Json ShortJson(std::span<const Measures> measures) {
  int64_t trajectories = 0, faults = 0, failed_calls = 0, tokens = 0, turns = 0;
  std::map<std::string, int64_t> calls_of;
  for (const Measures& m : measures) {
    if (!m.counts) continue;
    ++trajectories;
    faults += m.unreadable;
    failed_calls += m.calls - m.ran;
    tokens += m.tokens;
    turns += m.turns;
    for (const auto& [tool, calls] : m.calls_of) calls_of[tool] += calls;
  }
  Json out = Json::Of({{"trajectories", trajectories}});
  for (const auto& [key, figure] : std::initializer_list<std::pair<const char*, const char*>>{
           {"success", "success"},
           {"when", "when"},
           {"which", "which"},
           {"how", "how"},
           {"needless_calls", "needless_calls"},
           {"missed_calls", "missed_calls"},
           {"unused_calls", "unused_calls"},
           {"unaided", "unaided"},
           {"entropy", "entropy"},
           {"calls_per_task", "calls"},
           {"gold_calls_per_task", "gold_calls"},
           {"wasted_calls_per_task", "wasted_calls"}}) {
    if (const std::optional<double> value = ValueOf(measures, figure)) out.Set(key, *value);
  }
  if (!calls_of.empty()) {
    Json by_tool = Json::Object();
    for (const auto& [tool, calls] : calls_of) {
      by_tool.Set(tool, static_cast<double>(calls) / static_cast<double>(trajectories));
    }
    out.Set("calls_of_tools", std::move(by_tool));  // per task
  }
  out.Set("faults", faults);
  out.Set("failed_calls", failed_calls);
  out.Set("tokens", tokens);
  out.Set("turns", turns);
  return out;
}

// By group, with the interval of the success.
Json ShortJson(const Groups& groups, std::span<const GroupSuccess> success) {
  Json::Object out;
  for (const auto& [name, measures] : groups) {
    Json group = ShortJson(measures);
    for (const GroupSuccess& one : success) {
      if (one.name != name || !one.success) continue;
      group.Set("low", one.success->low);
      group.Set("high", one.success->high);
    }
    out.emplace_back(name, std::move(group));
  }
  return out;
}

char OutcomeOf(const Measures& m) {
  if (!m.counts || !m.success) return '-';
  return *m.success ? '1' : '0';
}

std::string OutcomesOf(std::span<const Measures> measures) {
  std::string outcomes;
  for (const Measures& m : measures) outcomes += OutcomeOf(m);
  return outcomes;
}

// What is known of a trajectory that there is none of.
Measures Missing(const Task& task) {
  const auto text = [&](const char* key) {
    const Json* found = task.metadata.Find(key);
    return found != nullptr && found->is_string() ? found->AsString() : std::string();
  };
  return {.task = task.id,
          .family = text("family"),
          .kind = text("kind"),
          .environment = text("environment"),
          .counts = false};
}

}  // namespace

int64_t Evaluation::Broken() const {
  return std::count_if(measures.begin(), measures.end(),
                       [](const Measures& m) { return !m.counts; });
}

Groups Evaluation::ByFamily() const { return GroupedBy(measures, FamilyOf); }
Groups Evaluation::ByKind() const { return GroupedBy(measures, KindOf); }
Groups Evaluation::ByEnvironment() const { return GroupedBy(measures, EnvironmentNameOf); }

Json Evaluation::ToJson() const {
  const Rng rng = Rng(0).Split("intervals");
  Json::Array calls;
  for (const Measures& m : measures) calls.emplace_back(m.calls);
  Json out = Json::Of(
      {{"split", SplitName(split)},
       {"temperature", static_cast<double>(temperature)},
       {"tasks", tasks},
       {"samples", samples},
       {"broken", Broken()},
       {"all", ShortJson(measures)},
       {"families", ShortJson(ByFamily(), SuccessBy(measures, FamilyOf, rng.Split("family")))},
       {"kinds", ShortJson(ByKind(), SuccessBy(measures, KindOf, rng.Split("kind")))},
       {"figures", hone::ToJson(FiguresOf(measures, rng.Split("figures")))},
       {"outcomes", OutcomesOf(measures)},
       {"calls_by_task", std::move(calls)},
       {"seconds", seconds}});
  if (without_tools) out.Set("without_tools", true);
  if (counts.unread_calls > 0) {
    out.Set("unread_calls", counts.unread_calls);
    out.Set("unread_note", counts.unread_note);
  }
  const Groups environments = ByEnvironment();
  if (environments.size() < 2) return out;
  Json apart =
      ShortJson(environments, SuccessBy(measures, EnvironmentNameOf, rng.Split("environment")));
  Json with_outcomes{Json::Object()};
  for (const auto& [name, figures] : apart.AsObject()) {
    Json one = figures;
    one.Set("outcomes", OutcomesOf(environments.at(name)));
    with_outcomes.Set(name, std::move(one));
  }
  out.Set("environments", std::move(with_outcomes));
  return out;
}

Result<std::vector<GroupRequest>> EvaluationRequests(const EvaluationOptions& options,
                                                     const TaskSource& tasks) {
  const std::vector<uint64_t> numbers =
      tasks.Measured(options.split, static_cast<uint64_t>(options.tasks));
  const size_t count = numbers.size();
  if (count == 0) {
    return Error(ErrorCode::kNotFound,
                 fmt::format("there are no tasks in {}", SplitName(options.split)));
  }
  const Rng rng = Rng(options.seed).Split("evaluation").Split(SplitName(options.split));
  std::vector<GroupRequest> requests(count);
  for (uint64_t i = 0; i < count; ++i) {
    requests[i].task = tasks.Make(options.split, numbers[i]);
    requests[i].seed = rng.Split(i).NextU64();
    requests[i].leaves = options.samples;
    requests[i].scope = fmt::format("{}", i);
  }
  return requests;
}

Result<RolloutResult> PlayEvaluation(const EvaluationOptions& options,
                                     const Environment& environment, const Policy& policy,
                                     Executor* executor, std::span<const GroupRequest> requests) {
  const std::unique_ptr<Strategy> chains = NewChains();
  RolloutOptions how{.run = options.run, .max_live = options.max_live};
  if (options.progress) {
    how.progress = [&, all = std::ssize(requests) * options.samples](int64_t ended, int64_t) {
      options.progress(ended, all);
    };
  }
  HONE_ASSIGN_OR_RETURN(
      const Rollout rollout,
      Rollout::New(std::move(how), &environment,
                   options.without_tools ? policy.WithoutCalls() : policy, chains.get(), executor));
  return rollout.Run(requests, options.stop);
}

Result<Evaluation> EvaluatePolicy(const EvaluationOptions& options,
                                  const LoadedEnvironment& environment, const Policy& policy,
                                  Executor* executor) {
  Evaluation evaluation;
  evaluation.split = options.split;
  evaluation.temperature = policy.options().sampling.temperature;
  evaluation.samples = options.samples;
  evaluation.without_tools = options.without_tools;
  HONE_ASSIGN_OR_RETURN(const std::vector<GroupRequest> requests,
                        EvaluationRequests(options, *environment.tasks));
  const size_t count = requests.size();
  HONE_ASSIGN_OR_RETURN(
      const RolloutResult result,
      options.play ? options.play(requests)
                   : PlayEvaluation(options, *environment.environment, policy, executor, requests));
  evaluation.tasks = static_cast<int64_t>(count);
  evaluation.counts = result.counts;
  evaluation.seconds = result.counts.seconds.total;
  for (size_t i = 0; i < count; ++i) {
    HONE_ASSIGN_OR_RETURN(std::vector<Measures> shown, MeasureTree(result.trees[i]));
    shown.resize(static_cast<size_t>(options.samples), Missing(requests[i].task));
    for (Measures& m : shown) evaluation.measures.push_back(std::move(m));
  }
  if (evaluation.Broken() == static_cast<int64_t>(evaluation.measures.size())) {
    return Error(
        ErrorCode::kUnavailable,
        fmt::format("none of {} tasks of {} could be done, and the agent is not to blame: {}",
                    count, SplitName(options.split), result.groups[0].problem));
  }
  return evaluation;
}

}  // namespace hone
