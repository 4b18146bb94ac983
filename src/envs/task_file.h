#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "record/task.h"
#include "tools/toolbox.h"

namespace hone {

// What is wrong with a line of a task file.
struct TaskProblem {
  int64_t line = 0;  // from 1
  std::string text;

  bool operator==(const TaskProblem&) const = default;
};

struct TaskFile {
  std::string shape;           // "hone", "verl" or "trl"
  std::vector<Task> tasks;     // those that could be read
  std::vector<int64_t> lines;  // of each
  std::vector<TaskProblem> problems;
};

// Tasks as JSON Lines, in one of three shapes, which the first row decides:
//
//   hone  {"id", "prompt" | "messages", "tools", "answer", "reward", "metadata"}; other keys are
//         problems
//   verl  {"data_source", "prompt": [...], "ability", "reward_model": {"ground_truth"},
//         "extra_info"}
//   trl   {"prompt" | "question" | "messages", "tools", "answer" | "solution" | "ground_truth" |
//         "completion"}; other columns become metadata
//
// Rows of the last two need no id: they are called by their index or their line. Every problem of
// every line is listed: text that is no JSON, missing and wrong fields, ids that come twice, tools
// that cannot be read, gold calls (reward.calls, metadata.plan) to tools that are not there or with
// arguments that do not fit, references of plans that lead nowhere, answers that are not what the
// task or its plan says they are. `tools` are those
// that every task has beside its own; may be null.
TaskFile ReadTaskFile(std::string_view text, const Toolbox* tools);

// All of them in one error, one line each ("tasks.jsonl:3: ..."), or success.
Result<void> NoProblems(const TaskFile& file, std::string_view name);

}  // namespace hone
