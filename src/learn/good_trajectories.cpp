#include "learn/good_trajectories.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "base/json_fields.h"
#include "credit/normaliser.h"
#include "record/record_json.h"
#include "record/validate.h"

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

// A call that could be read.
bool HasCalled(const Trajectory& trajectory) {
  return std::any_of(trajectory.actions.begin(), trajectory.actions.end(),
                     [](const Action& action) { return action.kind == ActionKind::kCall; });
}

}  // namespace

ScoredTree TrajectoryAlone(const ScoredTree& record, int32_t leaf) {
  ScoredTree alone;
  alone.tree.task = record.tree.task;
  alone.tree.seed = record.tree.seed;
  std::map<NodeId, NodeId> numbers = {{kNoNode, kNoNode}};
  for (const NodeId id : WholePathTo(record.tree, record.tree.leaves[leaf].node)) {
    numbers[id] = static_cast<NodeId>(alone.tree.nodes.size());
    Node& node = alone.tree.nodes.emplace_back(record.tree.nodes[id]);
    node.parent = numbers.at(node.parent);
    node.folded_from = numbers.at(node.folded_from);
  }
  alone.tree.leaves = {record.tree.leaves[leaf]};
  alone.tree.leaves[0].node = static_cast<NodeId>(alone.tree.nodes.size()) - 1;
  for (const Score& score : record.scores) {
    if (score.leaf != leaf) continue;
    alone.scores = {{0, score.terms}};
    for (RewardTerm& term : alone.scores[0].terms) term.node = numbers.at(term.node);
  }
  return alone;
}

bool GoodTrajectories::Ready() const {
  const std::optional<Baseline> baseline = Median();
  if (!baseline) return false;
  const auto better =
      static_cast<size_t>(std::count_if(entries_.begin(), entries_.end(), [&](const Entry& entry) {
        return entry.reward > baseline->mean;
      }));
  return 2 * better > 3 * options_.capacity;
}

void GoodTrajectories::Add(const ScoredTree& record, const Credit& credit, int64_t step) {
  if (!entries_.empty() && entries_.back().step != step) {
    const int64_t newest = entries_.back().step;
    std::erase_if(entries_, [&](const Entry& entry) {
      return newest - entry.step > options_.tolerated_steps;
    });
  }
  const Result<Group> group = GroupOf(record);
  if (!group.ok()) return;  // credit was refused for it as well
  const UnitValues rewards = TrajectorySums(*group, options_.outcome);
  std::vector<double> present;
  for (size_t i = 0; i < rewards.size(); ++i) {
    if (!rewards[i][0]) continue;
    present.push_back(*rewards[i][0]);
    const std::vector<float>& values = credit.advantages[i].values;
    const double sum = std::accumulate(values.begin(), values.end(), 0.0);
    if (sum <= 0 || !HasCalled(group->trajectories[i])) continue;
    entries_.push_back(
        {std::make_shared<ScoredTree>(TrajectoryAlone(record, group->trajectories[i].leaf)),
         *rewards[i][0], step});
  }
  if (present.empty()) return;
  const Deviation deviation = DeviationOf(present);
  baselines_.push_back({deviation.mean, deviation.deviation});
  if (baselines_.size() > options_.remembered_groups) baselines_.pop_front();
}

std::optional<GoodTrajectories::Baseline> GoodTrajectories::Median() const {
  if (baselines_.empty()) return std::nullopt;
  std::vector<double> means, deviations;
  for (const Baseline& baseline : baselines_) {
    means.push_back(baseline.mean);
    deviations.push_back(baseline.deviation);
  }
  return Baseline{MedianOf(std::move(means)), MedianOf(std::move(deviations))};
}

std::vector<GoodTrajectories::Replayed> GoodTrajectories::Take(Rng rng) {
  std::vector<Replayed> good;
  const std::optional<Baseline> baseline = Median();
  for (const Entry& entry : entries_) {
    if (!baseline) continue;
    double advantage = entry.reward - baseline->mean;
    if (options_.divide_by_deviation) advantage /= baseline->deviation + 1e-6;
    if (advantage > 0) good.push_back({entry.record, advantage});
  }
  entries_.clear();
  size_t wanted = good.size() > 1 ? 1 : 0;
  while (wanted > 0 && wanted * 2 <= good.size()) wanted *= 2;
  wanted = std::min(wanted, options_.capacity);
  for (size_t i = 0; i < wanted; ++i) {
    std::swap(good[i], good[i + rng.Below(good.size() - i)]);
  }
  good.resize(wanted);
  return good;
}

Json GoodTrajectories::ToJson() const {
  Json::Array entries, baselines;
  for (const Entry& entry : entries_) {
    entries.push_back(Json::Of(
        {{"record", RecordToJson(*entry.record)}, {"reward", entry.reward}, {"step", entry.step}}));
  }
  for (const Baseline& baseline : baselines_) {
    baselines.push_back(Json::Array{baseline.mean, baseline.deviation});
  }
  return Json::Of({{"entries", std::move(entries)}, {"baselines", std::move(baselines)}});
}

Result<void> GoodTrajectories::Restore(const Json& state) {
  JsonErrors errors;
  std::vector<Json> entries;
  std::vector<std::vector<double>> baselines;
  {
    JsonFields fields(state, "replay", &errors);
    fields.Required("entries", &entries);
    fields.Required("baselines", &baselines);
  }
  HONE_RETURN_IF_ERROR(errors.Check());
  std::deque<Entry> read;
  for (size_t i = 0; i < entries.size(); ++i) {
    const std::string where = "replay.entries[" + std::to_string(i) + "]";
    Json record;
    Entry& entry = read.emplace_back();
    {
      JsonFields fields(entries[i], where, &errors);
      fields.Required("record", &record);
      fields.Required("reward", &entry.reward);
      fields.Required("step", &entry.step);
    }
    HONE_RETURN_IF_ERROR(errors.Check());
    Result<ScoredTree> tree = RecordFromJson(record);
    if (!tree.ok()) return tree.error().In(where);
    const std::vector<std::string> problems = Validate(*tree);
    if (!problems.empty() || tree->tree.leaves.size() != 1) {
      return Error(ErrorCode::kCorrupt,
                   where + ": is no trajectory" + (problems.empty() ? "" : ": " + problems[0]));
    }
    entry.record = std::make_shared<ScoredTree>(std::move(*tree));
  }
  std::deque<Baseline> medians;
  for (const std::vector<double>& baseline : baselines) {
    if (baseline.size() != 2) {
      return Error(ErrorCode::kCorrupt, "replay.baselines: must be pairs of mean and deviation");
    }
    medians.push_back({baseline[0], baseline[1]});
  }
  entries_ = std::move(read);
  baselines_ = std::move(medians);
  return {};
}

}  // namespace hone
