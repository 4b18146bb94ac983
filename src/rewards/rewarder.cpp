#include "rewards/rewarder.h"

#include <optional>

namespace hone {
namespace {

class GroupRewarder final : public Rewarder {
 public:
  GroupRewarder(GroupTerms terms, bool apart) : terms_(std::move(terms)), apart_(apart) {}

  Result<std::vector<Score>> ScoreTree(const Tree& tree, const RewardContext&) override {
    HONE_ASSIGN_OR_RETURN(const Labels labels, LabelsOf(tree.task));
    std::vector<Score> scores;
    std::vector<TrajectoryView> group;
    for (size_t i = 0; i < tree.leaves.size(); ++i) {
      scores.push_back({static_cast<int32_t>(i), {}});
      TrajectoryView trajectory = TrajectoryOf(tree, static_cast<int32_t>(i));
      if (!trajectory.failed_by_others()) group.push_back(std::move(trajectory));
    }
    std::vector<std::vector<RewardTerm>> terms = terms_(group, labels, tree.task);
    CHECK(terms.size() == group.size(), "one list of terms per member of the group");
    for (size_t i = 0; i < group.size(); ++i) scores[group[i].leaf].terms = std::move(terms[i]);
    return scores;
  }

  Result<std::vector<std::vector<Score>>> ScoreTrees(std::span<const Tree* const> trees,
                                                     const RewardContext& context) override {
    constexpr size_t kTreesAtOnce = 2;
    std::vector<std::optional<Result<std::vector<Score>>>> scored(trees.size());
    ForEach(apart_ ? context.pool : nullptr, trees.size(), kTreesAtOnce,
            [&](size_t i) { scored[i] = ScoreTree(*trees[i], context); });
    std::vector<std::vector<Score>> all;
    for (std::optional<Result<std::vector<Score>>>& one : scored) {
      HONE_ASSIGN_OR_RETURN(std::vector<Score> scores, *std::move(one));
      all.push_back(std::move(scores));
    }
    return all;
  }

 private:
  const GroupTerms terms_;
  const bool apart_;
};

}  // namespace

std::unique_ptr<Rewarder> NewGroupRewarder(GroupTerms terms, bool apart) {
  return std::make_unique<GroupRewarder>(std::move(terms), apart);
}

Result<std::vector<std::vector<Score>>> Rewarder::ScoreTrees(std::span<const Tree* const> trees,
                                                             const RewardContext& context) {
  std::vector<std::vector<Score>> all;
  for (const Tree* tree : trees) {
    HONE_ASSIGN_OR_RETURN(std::vector<Score> scores, ScoreTree(*tree, context));
    all.push_back(std::move(scores));
  }
  return all;
}

std::unique_ptr<Rewarder> NewLeafRewarder(LeafTerms terms) {
  return NewGroupRewarder([terms = std::move(terms)](const std::vector<TrajectoryView>& group,
                                                     const Labels& labels, const Task&) {
    std::vector<std::vector<RewardTerm>> all;
    for (const TrajectoryView& trajectory : group) all.push_back(terms(trajectory, labels));
    return all;
  });
}

}  // namespace hone
