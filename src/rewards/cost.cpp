#include "rewards/cost.h"

#include "record/reward_terms.h"

namespace hone {
namespace {

double Seconds(int64_t microseconds) { return static_cast<double>(microseconds) / 1e6; }

}  // namespace

Usage UsageOf(const TrajectoryView& trajectory, const TaskTools& tools) {
  Usage usage;
  usage.calls = static_cast<int64_t>(trajectory.calls.size());
  usage.tokens = trajectory.policy_tokens;
  for (const TrajectoryView::MadeCall& call : trajectory.calls) {
    usage.money += tools.PriceOf(call.call->name);
  }
  usage.seconds = Seconds(trajectory.latency_us);
  return usage;
}

bool IsOver(const Usage& usage, const Budget& budget) {
  return (budget.calls && usage.calls > *budget.calls) ||
         (budget.tokens && usage.tokens > *budget.tokens) ||
         (budget.money && usage.money > *budget.money);
}

std::unique_ptr<Rewarder> NewCosts(CostOptions options) {
  return NewGroupRewarder([options](const std::vector<TrajectoryView>& group, const Labels& labels,
                                    const Task& task) {
    const TaskTools tools = TaskTools::Of(task);
    std::vector<std::vector<RewardTerm>> all;
    for (const TrajectoryView& trajectory : group) {
      std::vector<RewardTerm> terms;
      const bool calls_cost = options.per_call > 0 || options.money > 0 || options.per_second > 0;
      for (const TrajectoryView::MadeCall& call : trajectory.calls) {
        if (!calls_cost) break;
        const double latency = call.result == nullptr ? 0 : Seconds(call.result->latency_us);
        const double cost = options.per_call + options.money * tools.PriceOf(call.call->name) +
                            options.per_second * latency;
        terms.push_back(trajectory.AtCall(kCostTerm, -cost, call));
      }
      if (options.per_token > 0) {
        const double tokens = static_cast<double>(trajectory.policy_tokens);
        terms.push_back(trajectory.Overall(kLengthTerm, -options.per_token * tokens));
      }
      if (options.over_budget > 0) {
        const bool over = IsOver(UsageOf(trajectory, tools), labels.budget);
        terms.push_back(trajectory.Overall(kBudgetTerm, over ? -options.over_budget : 0));
      }
      all.push_back(std::move(terms));
    }
    return all;
  });
}

}  // namespace hone
