#include "credit/replay.h"

#include <algorithm>
#include <numeric>

#include "credit/normaliser.h"

namespace hone {
namespace {

double MedianOf(std::vector<double> values) {
  const size_t middle = values.size() / 2;
  std::nth_element(values.begin(), values.begin() + static_cast<ptrdiff_t>(middle), values.end());
  const double upper = values[middle];
  if (values.size() % 2 == 1) return upper;
  return (upper +
          *std::max_element(values.begin(), values.begin() + static_cast<ptrdiff_t>(middle))) /
         2;
}

}  // namespace

void ReplayBuffer::Add(std::shared_ptr<const ScoredTree> record, const Credit& credit,
                       int64_t step) {
  const Result<Group> group = GroupOf(*record);
  if (!group.ok()) return;  // credit was refused for it as well
  const UnitValues rewards = TrajectorySums(*group, OutcomeOf(*group, settings_.outcome));
  std::vector<double> present;
  for (size_t i = 0; i < rewards.size(); ++i) {
    if (!rewards[i][0]) continue;
    present.push_back(*rewards[i][0]);
    const std::vector<float>& values = credit.advantages[i].values;
    const double sum = std::accumulate(values.begin(), values.end(), 0.0);
    if (sum <= 0 || group->trajectories[i].Calls() == 0) continue;
    entries_.push_back({record, group->trajectories[i].leaf, *rewards[i][0], step});
  }
  if (present.empty()) return;
  const Deviation deviation = DeviationOf(present);
  baselines_.push_back({deviation.mean, deviation.deviation});
  if (baselines_.size() > settings_.remembered_groups) baselines_.pop_front();
}

std::optional<ReplayBuffer::Baseline> ReplayBuffer::Median() const {
  if (baselines_.empty()) return std::nullopt;
  std::vector<double> means, deviations;
  for (const Baseline& baseline : baselines_) {
    means.push_back(baseline.mean);
    deviations.push_back(baseline.deviation);
  }
  return Baseline{MedianOf(std::move(means)), MedianOf(std::move(deviations))};
}

std::vector<ReplayBuffer::Replayed> ReplayBuffer::Take(int64_t step, Rng rng) {
  std::vector<Replayed> good;
  const std::optional<Baseline> baseline = Median();
  for (const Entry& entry : entries_) {
    if (!baseline || step - entry.step > settings_.tolerated_steps) continue;
    double advantage = entry.reward - baseline->mean;
    if (settings_.divide_by_deviation) advantage /= baseline->deviation + 1e-6;
    if (advantage > 0) good.push_back({entry.record, entry.leaf, advantage});
  }
  entries_.clear();
  size_t wanted = 1;
  while (wanted * 2 <= std::min(good.size(), settings_.capacity)) wanted *= 2;
  if (good.empty()) return good;
  for (size_t i = 0; i < wanted; ++i) {
    std::swap(good[i], good[i + rng.Below(good.size() - i)]);
  }
  good.resize(wanted);
  return good;
}

}  // namespace hone
