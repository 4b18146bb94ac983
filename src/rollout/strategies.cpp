#include "rollout/strategies.h"

#include <fmt/format.h>

#include "base/nearest.h"
#include "rollout/arpo.h"
#include "rollout/chains.h"
#include "rollout/portool.h"
#include "rollout/tree_grpo.h"

namespace hone {
namespace {

std::vector<std::string> StrategyNames(StrategyTable table) {
  std::vector<std::string> names;
  for (const RegisteredStrategy& one : table) names.push_back(one.name);
  return names;
}

const RegisteredStrategy* FindStrategy(std::string_view name, StrategyTable table) {
  for (const RegisteredStrategy& one : table) {
    if (one.name == name) return &one;
  }
  return nullptr;
}

}  // namespace

const std::vector<RegisteredStrategy>& BuiltInStrategies() {
  static const std::vector<RegisteredStrategy> all = {RegisterChains(), RegisterArpo(),
                                                      RegisterPortool(), RegisterTreeGrpo()};
  return all;
}

Result<std::unique_ptr<Strategy>> NewStrategy(std::string_view name, StrategyTable table) {
  const RegisteredStrategy* found = FindStrategy(name, table);
  if (found == nullptr) {
    const std::vector<std::string> names = StrategyNames(table);
    return Error(ErrorCode::kNotFound,
                 fmt::format("no rollout strategy \"{}\"{}; there are {}", name,
                             DidYouMean(name, names), fmt::join(names, ", ")));
  }
  HONE_ASSIGN_OR_RETURN(Recipe nothing, Recipe::Parse("", found->name));
  return found->read(nothing.Root());
}

std::unique_ptr<Strategy> ReadStrategy(RecipeTable* rollout, StrategyTable table) {
  std::string name = table.front().name;
  rollout->ReadChoice("strategy", &name, StrategyNames(table),
                      "which trajectories a group has, where they part");
  const RegisteredStrategy* found = FindStrategy(name, table);
  CHECK(found != nullptr, "a choice that is not among the choices");
  Result<std::unique_ptr<Strategy>> made = found->read(rollout->Table(name));
  if (made.ok()) return *std::move(made);
  rollout->Problem("strategy", made.error().message());
  return nullptr;
}

}  // namespace hone
