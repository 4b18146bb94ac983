#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "rollout/strategy.h"

// All strategies, by name or by recipe. Whoever looks one up may bring another table, such as the
// built-in one with one line more (docs/howto/add-a-strategy.md).

namespace hone {

using StrategyTable = std::span<const RegisteredStrategy>;

// Those that come with the program; the first is the usual one.
const std::vector<RegisteredStrategy>& BuiltInStrategies();

// One of them, as it comes.
Result<std::unique_ptr<Strategy>> NewStrategy(std::string_view name,
                                              StrategyTable table = BuiltInStrategies());

// That of a recipe's [rollout]: `strategy`, with the settings of the table of that name. Null when
// there are problems, which Recipe::Finish reports.
std::unique_ptr<Strategy> ReadStrategy(RecipeTable* rollout,
                                       StrategyTable table = BuiltInStrategies());

}  // namespace hone
