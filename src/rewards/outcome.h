#pragma once

#include <optional>

#include "rewards/trajectory_view.h"

namespace hone {

// Whether the answer of a trajectory is right: a match, or nothing when nobody says what is right,
// or the fault that kept it from being known.
struct Outcome {
  std::optional<AnswerMatch> match;
  std::optional<TermFault> fault;

  bool right() const { return match && match->match; }
};

// By the environment's verdict when the task names no kind of answer and there is a verdict, else
// by comparing final_state.answer with the gold one. The gold answer of the episode's own world,
// final_state.gold_answer, goes before the task's; null there means that nobody knows it. `usual`
// is the kind where neither task nor gold value says more. `runner` may be null.
Outcome OutcomeOf(const TrajectoryView& trajectory, const Labels& labels,
                  std::optional<AnswerKind> usual = std::nullopt, ProgramRunner* runner = nullptr);

}  // namespace hone
