#include "rewards/flipped.h"

#include <algorithm>

#include "base/rng.h"

namespace hone {
namespace {

class Flipped final : public Rewarder {
 public:
  Flipped(std::unique_ptr<Rewarder> inner, FlipOptions options)
      : inner_(std::move(inner)), options_(std::move(options)) {}

  Result<std::vector<Score>> ScoreTree(const Tree& tree, const RewardContext& context) override {
    HONE_ASSIGN_OR_RETURN(std::vector<Score> scores, inner_->ScoreTree(tree, context));
    return Turned(tree, std::move(scores));
  }

  Result<std::vector<std::vector<Score>>> ScoreTrees(std::span<const Tree* const> trees,
                                                     const RewardContext& context) override {
    HONE_ASSIGN_OR_RETURN(std::vector<std::vector<Score>> all, inner_->ScoreTrees(trees, context));
    for (size_t i = 0; i < trees.size(); ++i) all[i] = Turned(*trees[i], std::move(all[i]));
    return all;
  }

 private:
  std::vector<Score> Turned(const Tree& tree, std::vector<Score> scores) const {
    const Rng group = Rng(options_.seed).Split("flip").Split(tree.task.id).Split(tree.seed);
    for (Score& score : scores) {
      for (RewardTerm& term : score.terms) {
        if (term.value && IsMeant(term.name) && IsFlipped(group, score, term)) {
          term.value = -*term.value;
        }
      }
    }
    return scores;
  }

  bool IsMeant(const std::string& name) const {
    return std::find(options_.terms.begin(), options_.terms.end(), name) != options_.terms.end();
  }

  bool IsFlipped(const Rng& group, const Score& score, const RewardTerm& term) const {
    // Where a term is the trajectory's as a whole, the trajectory is its place.
    Rng rng = term.node == kNoNode ? group.Split("leaf").Split(static_cast<uint64_t>(score.leaf))
                                   : group.Split("node").Split(static_cast<uint64_t>(term.node));
    rng = rng.Split(term.name).Split(static_cast<uint64_t>(term.span ? term.span->begin : 0));
    return rng.NextDouble() < options_.share;
  }

  std::unique_ptr<Rewarder> inner_;
  FlipOptions options_;
};

}  // namespace

std::unique_ptr<Rewarder> NewFlippedRewarder(std::unique_ptr<Rewarder> inner, FlipOptions options) {
  return std::make_unique<Flipped>(std::move(inner), std::move(options));
}

}  // namespace hone
