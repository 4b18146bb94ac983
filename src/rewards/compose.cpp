#include "rewards/compose.h"

#include <algorithm>

#include <fmt/format.h>

#include "rewards/command_rewarder.h"
#include "rewards/cost.h"
#include "rewards/flipped.h"

namespace hone {
namespace {

// The sum of the values of a term on one leaf; nothing when none has one.
std::optional<double> SumOf(const std::vector<std::vector<Score>>& parts, size_t leaf,
                            const std::string& name) {
  std::optional<double> sum;
  for (const std::vector<Score>& scores : parts) {
    for (const RewardTerm& term : scores[leaf].terms) {
      if (term.name == name && term.value) sum = sum.value_or(0) + *term.value;
    }
  }
  return sum;
}

class Sum final : public Rewarder {
 public:
  explicit Sum(std::vector<RewardPart> parts) : parts_(std::move(parts)) {}

  Result<std::vector<Score>> ScoreTree(const Tree& tree, const RewardContext& context) override {
    const Tree* const trees[] = {&tree};
    HONE_ASSIGN_OR_RETURN(std::vector<std::vector<Score>> scores, ScoreTrees(trees, context));
    return std::move(scores.front());
  }

  Result<std::vector<std::vector<Score>>> ScoreTrees(std::span<const Tree* const> trees,
                                                     const RewardContext& context) override {
    std::vector<std::vector<std::vector<Score>>> given(trees.size());  // by tree, by part
    for (const RewardPart& part : parts_) {
      HONE_ASSIGN_OR_RETURN(std::vector<std::vector<Score>> scores,
                            part.rewarder->ScoreTrees(trees, context));
      CHECK(scores.size() == trees.size(), "a rewarder scores every tree");
      for (size_t i = 0; i < trees.size(); ++i) given[i].push_back(std::move(scores[i]));
    }
    std::vector<std::vector<Score>> all;
    for (size_t i = 0; i < trees.size(); ++i) {
      all.push_back(Composed(*trees[i], given[i], context.step));
    }
    return all;
  }

 private:
  // The scores of a tree out of what the parts gave it.
  std::vector<Score> Composed(const Tree& tree, const std::vector<std::vector<Score>>& given,
                              int64_t step) const {
    std::vector<Score> all;
    for (const std::vector<Score>& scores : given) {
      CHECK(scores.size() == tree.leaves.size(), "a rewarder gives one score per leaf");
    }
    for (size_t leaf = 0; leaf < tree.leaves.size(); ++leaf) {
      Score score{static_cast<int32_t>(leaf), {}};
      for (size_t p = 0; p < parts_.size(); ++p) Append(given, p, leaf, step, &score);
      all.push_back(std::move(score));
    }
    return all;
  }

  // What a part gave a leaf, as the composition counts it.
  void Append(const std::vector<std::vector<Score>>& given, size_t index, size_t leaf, int64_t step,
              Score* score) const {
    const RewardPart& part = parts_[index];
    std::optional<double> gate;
    if (part.gate) gate = SumOf(given, leaf, part.gate->term);
    const double weight = part.weight.At(step);
    for (RewardTerm term : given[index][leaf].terms) {
      if (!part.terms.empty() &&
          std::find(part.terms.begin(), part.terms.end(), term.name) == part.terms.end()) {
        continue;
      }
      if (part.gate && !gate) term.value.reset();
      if (part.gate && gate && *gate < part.gate->at_least && term.value) term.value = 0;
      term.weight *= weight;
      score->terms.push_back(std::move(term));
    }
  }

  std::vector<RewardPart> parts_;
};

Result<RewardPart> NewPart(const RewardOptions& reward, const std::string& path,
                           const PresetOptions& options);

Result<std::unique_ptr<Rewarder>> NewSource(const RewardOptions& reward, const std::string& path,
                                            const PresetOptions& options) {
  if (reward.command) return NewCommandRewarder(*reward.command);
  if (reward.costs) return NewCosts(*reward.costs);
  if (reward.thoughts) return NewThoughtLength(*reward.thoughts);
  if (reward.preset) {
    PresetOptions with = options;
    if (reward.components) with.pays = *reward.components;
    return NewPreset(*reward.preset, with);
  }
  std::vector<RewardPart> parts;
  for (size_t i = 0; i < reward.sum->size(); ++i) {
    HONE_ASSIGN_OR_RETURN(RewardPart part,
                          NewPart((*reward.sum)[i], fmt::format("{}.sum[{}]", path, i), options));
    parts.push_back(std::move(part));
  }
  return NewSum(std::move(parts));
}

Result<RewardPart> NewPart(const RewardOptions& reward, const std::string& path,
                           const PresetOptions& options) {
  Result<std::unique_ptr<Rewarder>> rewarder = NewSource(reward, path, options);
  if (!rewarder.ok()) {
    return reward.sum ? rewarder.error() : rewarder.error().In(path);
  }
  RewardPart part{std::move(rewarder).value(), reward.weight, reward.gate, reward.terms};
  if (reward.flip) part.rewarder = NewFlippedRewarder(std::move(part.rewarder), *reward.flip);
  return part;
}

}  // namespace

std::unique_ptr<Rewarder> NewSum(std::vector<RewardPart> parts) {
  return std::make_unique<Sum>(std::move(parts));
}

Result<std::unique_ptr<Rewarder>> NewRewarder(const RewardOptions& reward,
                                              const PresetOptions& options) {
  std::vector<RewardPart> parts;
  HONE_ASSIGN_OR_RETURN(RewardPart part, NewPart(reward, "reward", options));
  parts.push_back(std::move(part));
  return NewSum(std::move(parts));
}

Result<std::unique_ptr<Rewarder>> RewarderFromJson(const Json& json, const PresetOptions& options) {
  HONE_ASSIGN_OR_RETURN(const RewardOptions reward, RewardOptionsFromJson(json, "reward"));
  return NewRewarder(reward, options);
}

}  // namespace hone
