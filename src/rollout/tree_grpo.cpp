#include "rollout/tree_grpo.h"

#include <string>

namespace hone {
namespace {

class TreeGrpo final : public Strategy {
 public:
  explicit TreeGrpo(const TreeGrpoOptions& options) : options_(options) {}

  const StrategyTraits& traits() const override { return traits_; }

  std::vector<Extension> Next(const GroupView& view) const override {
    if (view.started == 0) return {{0, options_.trees}};
    const int64_t per_round = options_.trees * options_.expansions;
    if (per_round == 0 || view.started >= options_.trees + options_.rounds * per_round) return {};
    std::vector<Extension> next;
    for (int64_t tree = 0; tree < options_.trees; ++tree) {
      // The prompt belongs to every tree. What begins there anew counts as a tree of its own later.
      std::vector<int32_t> places = {0};
      for (const Place& place : view.places) {
        if (place.turns > 0 && TreeOf(place.path) == tree) places.push_back(place.id);
      }
      Rng rng = view.rng.Split(static_cast<uint64_t>(tree));
      for (int64_t i = 0; i < options_.expansions; ++i) {
        next.push_back({places[rng.Below(places.size())], 1});
      }
    }
    return next;
  }

 private:
  // The number that the path begins with.
  static int64_t TreeOf(const std::string& path) { return std::stoll(path); }

  const TreeGrpoOptions options_;
  const StrategyTraits traits_{.name = "tree-grpo", .returns = true};
};

}  // namespace

Result<std::unique_ptr<Strategy>> NewTreeGrpo(const TreeGrpoOptions& options) {
  if (options.trees < 1 || options.expansions < 0 || options.rounds < 0) {
    return Error(ErrorCode::kInvalidArgument,
                 "tree-grpo: trees must be at least 1, expansions and rounds at least 0");
  }
  return std::unique_ptr<Strategy>(std::make_unique<TreeGrpo>(options));
}

RegisteredStrategy RegisterTreeGrpo() {
  return {"tree-grpo", "a few trajectories, then new ones from places on them",
          [](RecipeTable settings) {
            TreeGrpoOptions options;
            settings.Read("trees", &options.trees, "trajectories at first", AtLeast(1));
            settings.Read("expansions", &options.expansions, "new ones per tree and round",
                          AtLeast(0));
            settings.Read("rounds", &options.rounds, "of expansions", AtLeast(0));
            return NewTreeGrpo(options);
          }};
}

}  // namespace hone
