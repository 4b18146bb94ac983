#pragma once

#include <string>
#include <utility>
#include <vector>

#include "app/terminal.h"
#include "evaluate/forgetting.h"
#include "evaluate/pass_at_k.h"
#include "evaluate/policy_evaluation.h"
#include "train/before_after.h"

namespace hone {

// What hone eval has found, for people and for programs.
struct ShownEvaluation {
  std::string name;  // "sampled at 1", "greedy"
  Evaluation evaluation;
  Json json;                      // of it
  std::vector<PassShare> passes;  // empty where each task was done once
};
ShownEvaluation MakeShown(std::string name, Evaluation evaluation);

// All figures side by side; success by family and kind; which tool was called where which was
// needed.
std::string EvaluationsView(const std::vector<ShownEvaluation>& shown, const Terminal& terminal);
// The evaluation's own JSON, with "confusion" and, of several trajectories per task, "pass".
Json ShownJson(const ShownEvaluation& shown);

// Before and after as a table of text.
// What is left of each environment after each stage; empty where there is one environment.
std::string ForgettingView(const ForgettingTable& table, const Terminal& terminal);
std::string BeforeAfterView(const std::vector<BeforeAfterTable>& tables, const Terminal& terminal);

}  // namespace hone
