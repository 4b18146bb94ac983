#include "train/compare/start_controls.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "train/recipe_identity.h"

namespace hone {
namespace {

// JSON as TOML has it on one line.
std::string InlineToml(const Json& value) {
  std::string text;
  if (value.is_object()) {
    for (const auto& [key, member] : value.AsObject()) {
      text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", DumpJson(Json(key)),
                          InlineToml(member));
    }
    return "{" + text + "}";
  }
  if (!value.is_array()) return DumpJson(value);
  for (const Json& element : value.AsArray()) {
    text += (text.empty() ? "" : ", ") + InlineToml(element);
  }
  return "[" + text + "]";
}

// What an arm begins rl with.
struct ArmStart {
  bool practises = false;
  size_t stages = 0;  // before rl
  std::string only;   // the change that leaves nothing but them
  std::string key;    // equal ones begin alike, and are measured on the same tasks
  double temperature = 1;
};

// Absent: the recipe cannot be read.
std::optional<ArmStart> StartOf(const ComparisonFile& comparison, size_t arm) {
  const Result<PlannedRun> run = PlanRun(comparison, arm, 1, "");
  if (!run.ok()) return std::nullopt;
  const TrainingRecipe& recipe = run->recipe;
  ArmStart start{.temperature = recipe.evaluation.temperature};
  Json::Array before;
  for (size_t i = 0; i < recipe.stages.size() && !start.practises; ++i) {
    start.practises = recipe.stages[i]->traits().practice;
    if (!start.practises) before.push_back(recipe.said.Find("stage")->AsArray()[i]);
  }
  start.stages = before.size();
  start.only = "stage=" + InlineToml(Json(std::move(before)));
  Json key = Json::Of({{"start", run->start_key},
                       {"tasks", recipe.evaluation.test_tasks},
                       {"seed", recipe.evaluation.seed}});
  for (const char* part : {"environment", "tools", "user", "rollout"}) {
    key.Set(part, SaidPart(recipe, part));
  }
  start.key = ContentHash(key);
  return start;
}

class ControlMaker {
 public:
  explicit ControlMaker(ComparisonFile* comparison)
      : comparison_(comparison), own_arms_(comparison->arms.size()) {
    for (size_t i = 0; i < own_arms_; ++i) starts_.push_back(StartOf(*comparison, i));
  }

  void Add(ComparisonSection* section) {
    if (section->controls.empty()) return;
    const std::optional<size_t> whose = Beginner(*section);
    if (!whose) return;
    for (const std::string& name : section->controls) {
      section->start_controls.push_back(Make(name, *whose));
    }
  }

 private:
  // The baseline, or the first arm that has rl.
  std::optional<size_t> Beginner(const ComparisonSection& section) const {
    std::vector<size_t> order = {section.arms[section.baseline]};
    order.insert(order.end(), section.arms.begin(), section.arms.end());
    for (const size_t arm : order) {
      if (starts_[arm] && starts_[arm]->practises) return arm;
    }
    return std::nullopt;
  }

  StartControl Make(const std::string& name, size_t whose) {
    const ControlName parsed = *ParseControl(name);
    const ArmStart& start = *starts_[whose];
    StartControl control{.name = name, .greedy = parsed.greedy, .arm = whose};
    control.evaluation = parsed.greedy ? "before/test/greedy" : "before/test/sampled";
    const double temperature = parsed.temperature.value_or(start.temperature);
    control.label = parsed.greedy ? "start without rl, greedy"
                                  : fmt::format("start without rl, T = {:g}", temperature);
    if (parsed.greedy || temperature == start.temperature) return control;
    control.evaluation = "after/test/sampled";
    if (start.stages == 0) {
      control.why = "no stage comes before rl: there is no run without it";
      return control;
    }
    const Result<size_t> made = ArmAt(temperature, whose);
    if (!made.ok()) {
      control.why = made.error().message();
      return control;
    }
    control.arm = *made;
    control.made = true;
    return control;
  }

  // Of the arms that begin alike, the one with the fewest stages to make. The error: the recipe
  // cannot be without rl.
  Result<size_t> ArmAt(double temperature, size_t whose) {
    size_t from = whose;
    for (size_t i = 0; i < own_arms_; ++i) {
      const std::optional<ArmStart>& start = starts_[i];
      const bool alike = start && start->practises && start->key == starts_[whose]->key;
      if (alike && std::pair(start->stages, i) < std::pair(starts_[from]->stages, from)) from = i;
    }
    ComparisonArm arm = comparison_->arms[from];
    arm.name = fmt::format("start-{:g}-{}", temperature, arm.name);
    arm.label = arm.name;
    arm.grid.clear();
    arm.like.clear();
    for (std::string change :
         {starts_[from]->only, fmt::format("evaluation.temperature={:g}", temperature),
          std::string("evaluation.more=[]")}) {
      arm.changes.push_back(std::move(change));
    }
    const auto found = std::find_if(comparison_->arms.begin(), comparison_->arms.end(),
                                    [&](const ComparisonArm& one) { return one.name == arm.name; });
    if (found != comparison_->arms.end()) {
      return static_cast<size_t>(found - comparison_->arms.begin());
    }
    comparison_->arms.push_back(std::move(arm));
    const size_t place = comparison_->arms.size() - 1;
    if (const Result<PlannedRun> planned = PlanRun(*comparison_, place, 1, ""); !planned.ok()) {
      comparison_->arms.pop_back();
      return planned.error();
    }
    return place;
  }

  ComparisonFile* comparison_;
  size_t own_arms_;
  std::vector<std::optional<ArmStart>> starts_;  // of the comparison's own arms
};

}  // namespace

ComparisonFile WithControls(ComparisonFile comparison) {
  const bool any = std::any_of(comparison.sections.begin(), comparison.sections.end(),
                               [](const auto& section) { return !section.controls.empty(); });
  if (!any) return comparison;
  ControlMaker maker(&comparison);
  for (ComparisonSection& section : comparison.sections) maker.Add(&section);
  return comparison;
}

}  // namespace hone
