#include "rollout/strategy.h"

#include <fmt/format.h>

#include "base/nearest.h"

namespace hone {
namespace {

class Chains final : public Strategy {
 public:
  const StrategyTraits& traits() const override { return traits_; }
  std::vector<Extension> Next(const GroupView& view) const override {
    if (view.started > 0) return {};
    return {{0, view.leaves}};
  }

 private:
  const StrategyTraits traits_{.name = "chains"};
};

}  // namespace

std::unique_ptr<Strategy> NewChains() { return std::make_unique<Chains>(); }

std::vector<std::pair<std::string, std::string>> BuiltInStrategies() {
  return {{"chains", "independent trajectories from one prompt"},
          {"arpo", "branches after tool results where the entropy rose"},
          {"portool", "every turn forks, a constant number goes on"},
          {"tree-grpo", "a few trajectories, then new ones from places on them"}};
}

Result<std::unique_ptr<Strategy>> NewStrategy(std::string_view name) {
  if (name == "chains") return NewChains();
  if (name == "arpo") return NewArpo({});
  if (name == "portool") return NewPortool({});
  if (name == "tree-grpo") return NewTreeGrpo({});
  std::vector<std::string> names;
  for (const auto& [known, about] : BuiltInStrategies()) names.push_back(known);
  return Error(ErrorCode::kNotFound, fmt::format("no rollout strategy \"{}\"{}; there are {}", name,
                                                 DidYouMean(name, names), fmt::join(names, ", ")));
}

}  // namespace hone
