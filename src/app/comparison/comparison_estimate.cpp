#include "app/comparison/comparison_estimate.h"

#include <map>
#include <set>

#include <fmt/format.h>

#include "evaluate/compare/comparison_text.h"
#include "train/compare/start_controls.h"
#include "train/compare/tuning.h"
#include "train/recipe_identity.h"
#include "train/run_estimate.h"

namespace hone {
namespace {

// All that the time of a run depends on. How credit is given takes none.
std::string CostOf(const TrainingRecipe& recipe) {
  Json::Object parts;
  for (const char* key : {"model", "environment", "stage", "simulator"}) {
    parts.emplace_back(key, RecipePart(recipe, key));
  }
  parts.emplace_back("simulated", recipe.Simulates());
  return DumpJson(Json(std::move(parts)));
}

int64_t TrajectoriesOf(const TrainingRecipe& recipe) {
  int64_t trajectories = 0;
  for (const auto& stage : recipe.stages) {
    const StageSize size = stage->size();
    trajectories += size.steps * size.groups * size.group;
  }
  return trajectories;
}

// Adds up runs; what takes as long as another is measured once.
class CostEstimator {
 public:
  CostEstimator(ComparisonEstimate* estimate, const EstimateProgress& progress)
      : estimate_(estimate), progress_(progress) {}

  Result<void> Add(const ComparisonFile& comparison, const std::filesystem::path& out) {
    HONE_ASSIGN_OR_RETURN(const std::vector<PlannedRun> runs, PlanRuns(comparison, out));
    for (size_t i = 0; i < runs.size(); ++i) {
      const std::string& name = comparison.arms[runs[i].arm].name;
      if (progress_) {
        progress_(name, static_cast<int64_t>(i), static_cast<int64_t>(runs.size()));
      }
      HONE_RETURN_IF_ERROR(Add(runs[i], name));
    }
    return {};
  }

 private:
  Result<void> Add(const PlannedRun& run, const std::string& name) {
    const auto [place, added] = places_.emplace(CostOf(run.recipe), estimate_->kinds.size());
    if (added) {
      HONE_ASSIGN_OR_RETURN(ComparisonEstimate::Kind kind, Measure(run.recipe));
      kind.name = name;
      estimate_->kinds.push_back(std::move(kind));
    }
    ComparisonEstimate::Kind& kind = estimate_->kinds[place->second];
    ++kind.runs;
    if (imitations_.insert(run.start_key).second) ++kind.imitations;
    // What is recorded for a simulator may differ between arms that begin alike.
    if (run.recipe.LearnsSimulator() && simulators_.emplace(run.start_key, place->first).second) {
      ++kind.simulators;
    }
    return {};
  }

  static Result<ComparisonEstimate::Kind> Measure(TrainingRecipe recipe) {
    recipe.run.threads = 1;
    HONE_ASSIGN_OR_RETURN(const RunEstimate measured, EstimateRun(recipe));
    ComparisonEstimate::Kind kind;
    kind.trajectories = TrajectoriesOf(recipe);
    kind.tokens = measured.tokens_per_demonstration;
    for (size_t i = 0; i < measured.stages.size(); ++i) {
      const RunEstimate::Stage& stage = measured.stages[i];
      const StageTraits& traits = recipe.stages[i]->traits();
      (traits.practice          ? kind.rl_seconds
       : traits.trains_policy() ? kind.imitation_seconds
                                : kind.simulator_seconds) +=
          static_cast<double>(stage.steps) * stage.seconds_per_step;
    }
    return kind;
  }

  ComparisonEstimate* estimate_;
  const EstimateProgress& progress_;
  std::map<std::string, size_t> places_;
  std::set<std::string> imitations_;  // real and simulated runs share imitation
  std::set<std::pair<std::string, std::string>> simulators_;  // by start and by what takes time
};

}  // namespace

double ComparisonEstimate::Kind::Seconds() const {
  return static_cast<double>(imitations) * imitation_seconds +
         static_cast<double>(simulators) * simulator_seconds +
         static_cast<double>(runs) * rl_seconds;
}

double ComparisonEstimate::CoreSeconds() const {
  double seconds = 0;
  for (const Kind& kind : kinds) seconds += kind.Seconds();
  return seconds;
}

Json ComparisonEstimate::ToJson(int64_t jobs) const {
  Json::Array list;
  for (const Kind& kind : kinds) {
    list.push_back(Json::Of({{"name", kind.name},
                             {"runs", kind.runs},
                             {"imitations", kind.imitations},
                             {"simulators", kind.simulators},
                             {"trajectories", kind.trajectories},
                             {"tokens_per_trajectory", kind.tokens},
                             {"imitation_seconds", kind.imitation_seconds},
                             {"simulator_seconds", kind.simulator_seconds},
                             {"rl_seconds", kind.rl_seconds}}));
  }
  return Json::Of({{"kinds", std::move(list)},
                   {"core_seconds", CoreSeconds()},
                   {"seconds", CoreSeconds() / static_cast<double>(jobs)}});
}

std::string ComparisonEstimate::Table(int64_t jobs) const {
  TableRows rows = {{"like", "runs", "trajectories each", "tokens per trajectory", "imitation, s",
                     "simulator, s", "rl, s", "together, min"}};
  for (const Kind& kind : kinds) {
    rows.push_back({kind.name, fmt::format("{}", kind.runs), fmt::format("{}", kind.trajectories),
                    fmt::format("{:.0f}", kind.tokens),
                    fmt::format("{} x {:.0f}", kind.imitations, kind.imitation_seconds),
                    fmt::format("{} x {:.0f}", kind.simulators, kind.simulator_seconds),
                    fmt::format("{} x {:.0f}", kind.runs, kind.rl_seconds),
                    fmt::format("{:.0f}", kind.Seconds() / 60)});
  }
  return fmt::format(
      "{}\nSeconds of one core as fast as this machine is just now, busy or not; evaluations come "
      "on top.\n"
      "Together {:.1f} hours of one core: {:.1f} hours with {} at a time.\n",
      MarkdownTable(rows), CoreSeconds() / 3600, CoreSeconds() / 3600 / static_cast<double>(jobs),
      jobs);
}

Result<ComparisonEstimate> EstimateComparison(const ComparisonFile& comparison,
                                              const std::filesystem::path& out,
                                              const EstimateProgress& progress) {
  ComparisonEstimate estimate;
  CostEstimator estimator(&estimate, progress);
  const ComparisonFile tuning = TuningOf(comparison);
  if (!tuning.arms.empty()) HONE_RETURN_IF_ERROR(estimator.Add(tuning, out));
  HONE_RETURN_IF_ERROR(estimator.Add(WithControls(WithFirstSettings(comparison)), out));
  return estimate;
}

}  // namespace hone
