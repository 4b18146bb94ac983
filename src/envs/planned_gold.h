#pragma once

#include "record/task.h"

namespace hone {

// A task with a plan (metadata.plan) whose reward names no calls gets the plan's calls as its gold
// calls, so that nobody writes them twice. What a plan takes from an earlier result is not known
// before that call is made: such a parameter must be there, and any value of it is right (`any` of
// a gold call, docs/rewards.md). A simulated world says more: there the plan is carried out
// (envs/gold.h).
//
// A plan with calls on conditions says nothing here: which of them are right depends on results.
// A plan that cannot be read is left to those who check it.
void TakeGoldFromPlan(Task* task);

}  // namespace hone
