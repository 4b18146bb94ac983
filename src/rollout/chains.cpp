#include "rollout/chains.h"

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

RegisteredStrategy RegisterChains() {
  return {"chains", "independent trajectories from one prompt",
          [](RecipeTable) -> Result<std::unique_ptr<Strategy>> { return NewChains(); }};
}

}  // namespace hone
