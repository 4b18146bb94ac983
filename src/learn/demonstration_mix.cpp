#include "learn/demonstration_mix.h"

#include "learn/sft.h"

namespace hone {
namespace {

DemonstratorSettings OfFullReward(DemonstratorSettings settings) {
  settings.successful_only = true;
  return settings;
}

}  // namespace

DemonstrationMix::DemonstrationMix(Workshop* workshop)
    : workshop_(workshop),
      demonstrator_(OfFullReward(FirstDemonstrator(*workshop->recipe)), &workshop->environment,
                    workshop->showing->executor(), workshop->recipe->run.seed) {}

int64_t DemonstrationMix::Accumulate(double share, int64_t tokens, const Rng& rng) {
  const SftOptions options{.other_weight = 0};
  const double wanted = share * static_cast<double>(tokens);
  constexpr int kNumberBits = 40;  // far beyond what imitation has seen
  const uint64_t first = Rng(rng).NextU64() >> (64 - kNumberBits);
  std::vector<Tree> trees;
  double shown = 0;
  for (uint64_t i = 0; shown < wanted; ++i) {
    const Result<Tree> tree = demonstrator_.WantedTree(first + i, *workshop_->language.codec);
    if (!tree.ok() || !workshop_->engine->CheckTree(*tree).ok()) break;
    shown += TokenWeight(options, {&*tree, 1});
    trees.push_back(*tree);
  }
  if (shown == 0) return 0;
  SftMetrics metrics;
  workshop_->engine->Accumulate(trees,
                                SftLoss(options, trees, static_cast<double>(tokens), &metrics));
  return metrics.policy_tokens;
}

}  // namespace hone
