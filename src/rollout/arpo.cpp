#include "rollout/arpo.h"

#include <algorithm>

#include "base/exact_math.h"

// As its authors' program decides (docs/rollout.md): the entropy is that of the beginning of the
// turn that made the call, against that of the trajectory's first turn.

namespace hone {
namespace {

constexpr size_t kArpoTokens = 20;  // that the entropy is summed over

// Of the turn's first tokens, in units of the logarithm of the vocabulary.
double EntropyOf(const Node& turn, int64_t vocabulary) {
  const size_t count = std::min(turn.entropies.size(), kArpoTokens);
  double sum = 0;
  for (size_t i = 0; i < count; ++i) sum += turn.entropies[i];
  return sum / NaturalLog(static_cast<double>(vocabulary));
}

class Arpo final : public Strategy {
 public:
  explicit Arpo(const ArpoOptions& options) : options_(options) {}

  const StrategyTraits& traits() const override { return traits_; }

  std::vector<Extension> Next(const GroupView& view) const override {
    if (view.started == 0) {
      const int64_t half = (view.leaves + 1) / 2;
      return {{0, std::min(options_.initial > 0 ? options_.initial : half, view.leaves)}};
    }
    std::vector<Extension> next;
    int64_t left = view.leaves - view.started;
    for (const Place& place : view.places) {
      if (!place.open) continue;
      const int64_t more = std::min(left, Branches(view, place));
      left -= more;
      next.push_back({place.id, 1 + more});
    }
    if (next.empty() && left > 0) next.push_back({0, left});
    return next;
  }

 private:
  int64_t Branches(const GroupView& view, const Place& place) const {
    if (!place.after_results) return 0;
    Rng rng = view.rng.Split(place.path);
    const double rise = EntropyOf(*place.last_turn, view.vocabulary) -
                        EntropyOf(*place.first_turn, view.vocabulary);
    const double p = std::clamp(rng.NextDouble() - options_.weight * rise, 0.0, 1.0);
    return p <= options_.branch_probability ? options_.beam - 1 : 0;
  }

  const ArpoOptions options_;
  const StrategyTraits traits_{.name = "arpo", .waits = true, .reads_entropies = true};
};

}  // namespace

Result<std::unique_ptr<Strategy>> NewArpo(const ArpoOptions& options) {
  if (options.initial < 0 || options.beam < 1 ||
      !(options.branch_probability >= 0 && options.branch_probability <= 1)) {
    return Error(ErrorCode::kInvalidArgument,
                 "arpo: initial must be at least 0, beam at least 1, branch_probability in [0, 1]");
  }
  return std::unique_ptr<Strategy>(std::make_unique<Arpo>(options));
}

RegisteredStrategy RegisterArpo() {
  return {"arpo", "branches after tool results where the entropy rose", [](RecipeTable settings) {
            ArpoOptions options;
            settings.Read("initial", &options.initial,
                          "trajectories at first; 0: half of the leaves", AtLeast(0));
            settings.Read("beam", &options.beam, "a trajectory goes on as at most so many",
                          AtLeast(1));
            settings.Read("weight", &options.weight, "of the entropy's rise", AtLeast(0));
            settings.Read("branch_probability", &options.branch_probability,
                          "where the entropy did not rise", Between(0, 1));
            return NewArpo(options);
          }};
}

}  // namespace hone
