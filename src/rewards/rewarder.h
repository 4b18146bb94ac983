#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/thread_pool.h"
#include "record/score.h"
#include "rewards/labels.h"
#include "rewards/trajectory_view.h"

namespace hone {

struct RewardContext {
  int64_t step = 0;  // of training; schedules go by it
  std::stop_token stop;
  // Scores several groups at a time where a rewarder's terms can be had so; null: one by one.
  ThreadPool* pool = nullptr;
};

// Scores a group of samples. Sees the record and each leaf's final state, never text put together.
//
// One Score per leaf, in the order of the leaves. A leaf that a failure of others ended has no
// terms. Where a label is missing the term is missing. A term that should be there and could not be
// computed has no value and a fault that says why and whose it is (record/score.h); it is never
// zero. An Error means that the task's labels cannot be read, or that the caller stopped it.
//
// One thread at a time per object.
class Rewarder {
 public:
  virtual ~Rewarder() = default;
  // The tree must be valid (record/validate.h).
  virtual Result<std::vector<Score>> ScoreTree(const Tree& tree, const RewardContext& context) = 0;
  // Many trees, with the scores of each in their order: the same as one by one, and faster where
  // that takes others' time.
  virtual Result<std::vector<std::vector<Score>>> ScoreTrees(std::span<const Tree* const> trees,
                                                             const RewardContext& context);
};

// The terms of one leaf, and of a whole group where a reward compares its members. `others_failed`
// leaves are left out of the group.
using LeafTerms =
    std::function<std::vector<RewardTerm>(const TrajectoryView& trajectory, const Labels& labels)>;
using GroupTerms = std::function<std::vector<std::vector<RewardTerm>>(
    const std::vector<TrajectoryView>& group, const Labels& labels, const Task& task)>;

// `apart`: threads may ask for the terms of several groups at the same time.
std::unique_ptr<Rewarder> NewLeafRewarder(LeafTerms terms);
std::unique_ptr<Rewarder> NewGroupRewarder(GroupTerms terms, bool apart = true);

}  // namespace hone
