#include "train/stages/demonstration_mix.h"

#include <numeric>

#include "learn/batches.h"
#include "learn/sft.h"

namespace hone {
namespace {

DemonstratorOptions OfFullReward(DemonstratorOptions settings) {
  settings.successful_only = true;
  return settings;
}

}  // namespace

DemonstrationMix::DemonstrationMix(StageContext* context)
    : context_(context),
      demonstrator_(OfFullReward(FirstDemonstrator(*context->recipe)), &context->environment,
                    context->showing->executor(), context->recipe->run.seed) {}

int64_t DemonstrationMix::Accumulate(double share, int64_t tokens, int64_t call_tokens,
                                     const Rng& rng) {
  const SftOptions options{.other_weight = 0};
  const double wanted = share * static_cast<double>(tokens);
  constexpr int kNumberBits = 40;  // far beyond what imitation has seen
  const uint64_t first = Rng(rng).NextU64() >> (64 - kNumberBits);
  std::vector<Tree> trees;
  std::vector<int64_t> sizes;
  double shown = 0;
  for (uint64_t i = 0; shown < wanted; ++i) {
    const Result<Tree> tree = demonstrator_.WantedTree(first + i, *context_->language.codec);
    if (!tree.ok() || !context_->engine->CheckTree(*tree).ok()) break;
    shown += TokenWeight(options, {&*tree, 1});
    sizes.push_back(CountTokens(*tree));
    trees.push_back(*tree);
  }
  if (shown == 0) return 0;
  std::vector<size_t> order(trees.size());
  std::iota(order.begin(), order.end(), size_t{0});
  // Prompts and results are many more tokens than those of the agent.
  return AccumulateSft(options, trees, PackByTokens(order, sizes, call_tokens),
                       static_cast<double>(tokens), context_->engine.get())
      .policy_tokens;
}

}  // namespace hone
