#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/rng.h"
#include "envs/plan.h"
#include "envs/service/shop.h"
#include "envs/service/user.h"

namespace hone::service {

// A goal in the making: what the customer wants, the calls that fulfil it, what must be told, and
// the combination of things it is about (for splits).
struct GoalDraft {
  Goal goal;
  std::vector<PlannedCall> calls;  // references count from the first call of this goal
  std::vector<std::string> outputs;
  std::string key;
  size_t phrase = 0;
};

// What a goal is drawn from.
struct GoalSetting {
  const Shop* shop = nullptr;
  const Customer* customer = nullptr;
  std::vector<const Order*> orders;  // the customer's that no other goal is about
  bool unseen_phrases = false;
  Rng* rng = nullptr;
};

// A kind of goal. `draw` fills in the draft, or returns false when this customer has no such wish.
struct GoalKind {
  std::string_view name;
  bool (*draw)(const GoalSetting& setting, GoalDraft* draft) = nullptr;
  bool unseen = false;       // never in training
  bool both_orders = false;  // it is about two orders
};
std::span<const GoalKind> GoalKinds();

}  // namespace hone::service
