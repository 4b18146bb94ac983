#pragma once

#include <algorithm>
#include <memory>

#include "rollout/strategy.h"

// A whole strategy on a page, to be copied (docs/howto/add-a-strategy.md): half of the leaves begin
// at the prompt, and each of them parts in two after the turn that the recipe says.

namespace hone::forks {

struct Options {
  int64_t turn = 1;  // after which trajectories part
};

class Forks final : public Strategy {
 public:
  explicit Forks(const Options& options) : options_(options) {}

  const StrategyTraits& traits() const override { return traits_; }

  std::vector<Extension> Next(const GroupView& view) const override {
    if (view.started == 0) return {{0, (view.leaves + 1) / 2}};
    int64_t left = view.leaves - view.started;
    std::vector<Extension> next;
    for (const Place& place : view.places) {
      if (!place.open) continue;
      const int64_t more = place.turns == options_.turn ? std::min<int64_t>(left, 1) : 0;
      left -= more;
      next.push_back({place.id, 1 + more});
    }
    return next;
  }

 private:
  const Options options_;
  const StrategyTraits traits_{.name = "forks", .waits = true};
};

// Its line in the table.
inline RegisteredStrategy Register() {
  return {"forks", "every trajectory parts once, after the same turn",
          [](RecipeTable settings) -> Result<std::unique_ptr<Strategy>> {
            Options options;
            settings.Read("turn", &options.turn, "after which trajectories part", AtLeast(1));
            return std::unique_ptr<Strategy>(std::make_unique<Forks>(options));
          }};
}

}  // namespace hone::forks
