#pragma once

#include <memory>

#include "rewards/rewarder.h"

namespace hone {

// What a trajectory used up.
struct Usage {
  int64_t calls = 0;
  int64_t tokens = 0;  // of the policy
  double money = 0;    // prices of the tools called, failed calls too
  double seconds = 0;  // latency of the calls
};
Usage UsageOf(const TrajectoryView& trajectory, const TaskTools& tools);

// Whether it is more than the budget allows.
bool IsOver(const Usage& usage, const Budget& budget);

// Prices, all not negative.
struct CostOptions {
  double per_call = 0;
  double per_token = 0;    // of the policy
  double per_second = 0;   // of latency
  double money = 0;        // per unit of the tools' prices
  double over_budget = 0;  // once, where the task's budget is exceeded
};

// Terms that are taken away: "cost" on each call (what it costs by number, price and latency),
// "length" on the trajectory, "budget" where it is exceeded. What costs nothing has no term.
// Published evidence says: gate it on success, or the policy learns not to call.
std::unique_ptr<Rewarder> NewCosts(CostOptions options);

}  // namespace hone
