#include "train/stage.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/check.h"
#include "learn/shares.h"
#include "train/stages/journal_stage.h"
#include "train/stages/preference_stage.h"
#include "train/stages/rl_stage.h"
#include "train/stages/sft_stage.h"
#include "train/stages/simulator_stage.h"

namespace hone {

std::span<const StageKind> BuiltInStages() {
  static constexpr StageKind kKinds[] = {
      {"sft", {.shared = true}, ReadSftStage},
      {"preference", {.shared = true}, ReadPreferenceStage},
      {"simulator", {.product = StageProduct::kSimulator, .shared = true}, ReadSimulatorStage},
      {"record", {.product = StageProduct::kJournal, .shared = true}, ReadJournalStage},
      {"rl", {.practice = true}, ReadRlStage},
  };
  return kKinds;
}

Result<std::unique_ptr<StageRun>> Stage::Open(int64_t, bool, StageContext*) const {
  CHECK(false, fmt::format("a stage {} does not train the policy", kind()));
  return std::unique_ptr<StageRun>();
}

Result<void> Stage::Make(StageContext*, const std::filesystem::path&, const MakingProgress&) const {
  CHECK(false, fmt::format("a stage {} makes nothing but the policy", kind()));
  return {};
}

EnvironmentMix ReadMix(RecipeTable* table, const EnvironmentOptions& environment) {
  if (!environment.members.empty()) {
    return ReadShares(table, "mix", "how often each environment comes; empty: by their weights",
                      environment.members);
  }
  if (table->Has("mix")) {
    table->PassOver("mix");
    table->Problem("mix", "there is one environment; several are written as [[environment]]");
  }
  return {};
}

std::shared_ptr<const Stage> ReadStage(RecipeTable table, const EnvironmentOptions& environment,
                                       std::span<const StageKind> kinds) {
  std::vector<std::string> names;
  for (const StageKind& kind : kinds) names.emplace_back(kind.name);
  if (!table.Has("kind")) {
    table.Problem("kind", fmt::format("is missing: {}", fmt::join(names, ", ")));
  }
  std::string name;  // without a default: what a stage is must be said
  table.ReadChoice("kind", &name, names, "of stage");
  const auto kind = std::find_if(kinds.begin(), kinds.end(),
                                 [&](const StageKind& one) { return one.name == name; });
  if (kind == kinds.end()) return nullptr;
  const std::shared_ptr<Stage> stage = kind->read(table, environment);
  stage->kind_ = kind->name;
  stage->traits_ = kind->traits;
  return stage;
}

bool TrainsPolicy(std::string_view kind) {
  return std::any_of(BuiltInStages().begin(), BuiltInStages().end(), [&](const StageKind& one) {
    return one.name == kind && one.traits.trains_policy();
  });
}

}  // namespace hone
