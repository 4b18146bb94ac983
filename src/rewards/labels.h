#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "record/task.h"
#include "rewards/matching/answer.h"
#include "rewards/matching/call_match.h"

namespace hone {

// A verifiable event on the way to a goal. Reached when the environment's final state names it,
// when a call like `call` ran, or when the final state holds `state`.
struct Milestone {
  std::string name;
  double weight = 0;
  std::optional<GoldCall> call;
  std::optional<Json> state;  // an object; each member must be in the final state
};

// What an episode may use up. Absent: no limit.
struct Budget {
  std::optional<int64_t> calls;
  std::optional<int64_t> tokens;  // of the policy
  std::optional<double> money;
};

// What a task says of the right way to do it. What it does not say is absent, and what is scored by
// it is then absent too.
struct Labels {
  std::optional<bool> tool_needed;
  std::optional<GoldCalls> calls;
  Json answer;                            // the gold answer; null: none
  std::optional<AnswerKind> answer_kind;  // absent: not said
  AnswerOptions answer_options;
  std::vector<Milestone> milestones;
  std::vector<std::string> outputs;  // what the agent must have said
  Budget budget;
  std::optional<int64_t> least_calls;         // the fewest calls that are known to be enough
  std::map<std::string, double> preferences;  // of a user, by feature
  std::string origin;                         // who made the labels; empty: the task's author
};

// The labels of a task (docs/rewards.md has the JSON): `answer`, `reward`, and for what `reward`
// does not say `metadata.labels`. Errors name the key.
Result<Labels> LabelsOf(const Task& task);

// The usual weight of a milestone of this name (navigation 0.1, element 0.2, fields 0.2, artefact
// 0.3, goal 0.2), or nothing.
std::optional<double> UsualMilestoneWeight(std::string_view name);

}  // namespace hone
