#include "rollout/portool.h"

#include <utility>

namespace hone {
namespace {

class Portool final : public Strategy {
 public:
  explicit Portool(const PortoolOptions& options) : options_(options) {}

  const StrategyTraits& traits() const override { return traits_; }

  std::vector<Extension> Next(const GroupView& view) const override {
    if (view.started == 0) return {{0, view.leaves}};
    // Every open place has `forks` tickets; as many tickets as places are drawn.
    std::vector<Extension> open;
    std::vector<size_t> tickets;
    for (const Place& place : view.places) {
      if (!place.open) continue;
      for (int64_t fork = 0; fork < options_.forks; ++fork) tickets.push_back(open.size());
      open.push_back({place.id, 0});
    }
    Rng rng = view.rng;
    for (size_t kept = 0; kept < open.size(); ++kept) {
      std::swap(tickets[kept], tickets[kept + rng.Below(tickets.size() - kept)]);
      ++open[tickets[kept]].trajectories;
    }
    std::erase_if(open, [](const Extension& extension) { return extension.trajectories == 0; });
    return open;
  }

 private:
  const PortoolOptions options_;
  const StrategyTraits traits_{.name = "portool", .waits = true};
};

}  // namespace

Result<std::unique_ptr<Strategy>> NewPortool(const PortoolOptions& options) {
  if (options.forks < 1) {
    return Error(ErrorCode::kInvalidArgument, "portool: forks must be at least 1");
  }
  return std::unique_ptr<Strategy>(std::make_unique<Portool>(options));
}

RegisteredStrategy RegisterPortool() {
  return {"portool", "every turn forks, a constant number goes on", [](RecipeTable settings) {
            PortoolOptions options;
            settings.Read("forks", &options.forks, "continuations that a trajectory offers",
                          AtLeast(1));
            return NewPortool(options);
          }};
}

}  // namespace hone
