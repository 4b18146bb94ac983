#include "train/learning_versions.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "train/training_recipe.h"

namespace hone {
namespace {

using Parts = std::set<std::pair<std::string, std::string>>;  // part and name

// "toolpo:calls=0.5" is of the method toolpo.
std::string BeforeColon(const std::string& text) { return text.substr(0, text.find(':')); }

void AddText(const Json& table, std::string_view key, const char* part, Parts* parts) {
  const Json* name = table.Find(key);
  if (name != nullptr && name->is_string()) parts->emplace(part, BeforeColon(name->AsString()));
}

void AddRewards(const Json& rewards, Parts* parts) {
  AddText(rewards, "preset", "reward", parts);
  for (const char* kind : {"command", "costs", "thoughts", "gate", "flip"}) {
    if (rewards.Find(kind) != nullptr) parts->emplace("reward", kind);
  }
  const Json* sum = rewards.Find("sum");
  if (sum == nullptr || !sum->is_array()) return;
  for (const Json& part : sum->AsArray()) AddRewards(part, parts);
}

// A stage that ends by trajectories, on schedules that have an end.
bool EndsByTrajectories(const Json& stage) {
  const Json* trajectories = stage.Find("trajectories");
  return trajectories != nullptr && trajectories->is_number() && trajectories->AsDouble() > 0;
}

void AddLearning(const TrainingRecipe& recipe, Parts* parts) {
  if (const Json* stages = recipe.resolved.Find("stage"); stages != nullptr && stages->is_array()) {
    for (const Json& stage : stages->AsArray()) {
      if (EndsByTrajectories(stage)) parts->emplace("schedule", "trajectories");
    }
  }
  const auto practice = std::count_if(recipe.stages.begin(), recipe.stages.end(),
                                      [](const auto& stage) { return stage->traits().practice; });
  if (practice > 1) parts->emplace("practice", "again");
  const ObjectiveOptions& objective = recipe.objective;
  if (objective.NeedsReference() && objective.kl.place == KlPlace::kReward) {
    parts->emplace("kl", "reward");
  }
  if (recipe.replay.on) parts->emplace("replay", "on");
}

void AddTable(const TrainingRecipe& recipe, std::string_view table, std::string_view key,
              const char* part, Parts* parts) {
  const Json* found = recipe.resolved.Find(table);
  if (found == nullptr) return;
  if (!found->is_array()) return AddText(*found, key, part, parts);
  for (const Json& one : found->AsArray()) AddText(one, key, part, parts);
}

Json Listed(const Parts& parts, std::span<const LearningVersion> versions) {
  Json listed = Json::Object();
  for (const LearningVersion& one : versions) {
    if (!parts.contains({std::string(one.part), std::string(one.name)})) continue;
    listed.Set(fmt::format("{}/{}", one.part, one.name), one.version);
  }
  return listed;
}

}  // namespace

std::span<const LearningVersion> LearningVersions() {
  static constexpr LearningVersion kVersions[] = {
      {"environment", "data", 2, "plans are gold calls with live tools as well"},
      {"environment", "command", 2, "plans are gold calls with live tools as well"},
      {"dialect", "template", 2, "what a template rewrites is no fold; nobody types its markers"},
      {"dialect", "hermes", 2, "what is rendered without old thoughts is no fold; as above"},
      {"reward", "command", 2, "numbers without a name are the term outcome"},
      {"curriculum", "entropy", 3,
       "rewards within the deviation of all rewards so far are alike; runs with two values differ "
       "in "
       "nothing. Version 2: groups of one task are remembered in the order of their rewards"},
      {"schedule", "trajectories", 2, "schedules end where trajectories end the stage"},
      {"practice", "again", 2, "a later stage of practice poses the tasks behind the earlier ones"},
      {"kl", "reward", 2, "the estimator is k1 unless the recipe says another one"},
      {"replay", "on", 2, "what is replayed is of earlier steps; counted as the authors count"},
      {"loss", "dr-grpo", 2, "divided by the number of sequences; norm_length is of one"},
      {"reward", "toolrl", 2, "a match that earns nothing uses no call up"},
      {"method", "gdpo", 2, "weights of terms act after the comparison"},
      {"method", "simpletir", 2, "turns that were cut off are void; unreadable actions are not"},
      {"method", "spear", 2,
       "only calls that could be read are paid; void turns as simpletir; its filter as published"},
      {"method", "starpo-s", 2, "the share of groups that stay is rounded down"},
      {"method", "mt-grpo", 2, "all calls count; without a result one comparison of the sum"},
      {"method", "arpo-hard", 2, "shared tokens count once per path"},
  };
  return kVersions;
}

Json VersionsOf(const TrainingRecipe& recipe, std::span<const LearningVersion> versions) {
  Parts parts;
  for (const auto& stage : recipe.stages) parts.emplace("stage", stage->kind());
  AddTable(recipe, "credit", "method", "method", &parts);
  AddTable(recipe, "objective", "loss", "loss", &parts);
  AddTable(recipe, "environment", "kind", "environment", &parts);
  AddTable(recipe, "rollout", "strategy", "strategy", &parts);
  AddTable(recipe, "simulator", "kind", "simulator", &parts);
  AddTable(recipe, "curriculum", "order", "curriculum", &parts);
  AddTable(recipe, "model", "dialect", "dialect", &parts);
  if (const Json* rewards = recipe.resolved.Find("rewards")) AddRewards(*rewards, &parts);
  AddLearning(recipe, &parts);
  return Listed(parts, versions);
}

Json VersionsOfStage(const TrainingRecipe& recipe, size_t number,
                     std::span<const LearningVersion> versions) {
  Parts parts = {{"stage", std::string(recipe.stages[number]->kind())}};
  AddTable(recipe, "environment", "kind", "environment", &parts);
  AddTable(recipe, "model", "dialect", "dialect", &parts);
  return Listed(parts, versions);
}

}  // namespace hone
