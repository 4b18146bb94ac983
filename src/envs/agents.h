#pragma once

#include <memory>
#include <string>

#include "base/rng.h"
#include "envs/plan.h"
#include "envs/play.h"

// Agents that need no model: what a task's own plan does, and the baselines that every environment
// states its scores for.

namespace hone {

// A turn that makes no call.
AgentTurn Says(std::string text);

// Carries out the plan call by call and gives its answer. A call that fails ends it: it answers
// nothing more than "none". Of `thoughts` the first stands before the first call, and the one
// behind those of all calls before the answer; calls that a condition leaves out keep theirs.
std::unique_ptr<Agent> NewPlanAgent(Plan plan, std::vector<std::string> thoughts = {});
// The same with the plan that the task has, and with its "metadata.thoughts"; an error when it has
// no plan.
Result<std::unique_ptr<Agent>> NewPlanAgentFor(const Task& task);

// Makes no call and answers "none" whenever it is asked for something.
std::unique_ptr<Agent> NewIdleAgent();

// `tools` are schemas (VisibleTools). In each turn, by the toss of a coin, a call of any tool or an
// answer; arguments and answers are words that stand in what it has read, or numbers.
std::unique_ptr<Agent> NewRandomAgent(Json tools, Rng rng);

// The same calls, but never an answer.
std::unique_ptr<Agent> NewAlwaysCallAgent(Json tools, Rng rng);

}  // namespace hone
