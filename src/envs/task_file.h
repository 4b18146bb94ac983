#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "envs/task_rows.h"
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
  std::string shape;           // "hone", "suite", "verl", "gsm8k", "math", "qa" or "trl"
  std::vector<Task> tasks;     // those that could be read
  std::vector<int64_t> lines;  // of each
  std::vector<TaskProblem> problems;
};

// Tasks as JSON Lines, in one of these shapes, which the first row decides:
//
//   hone   {"id", "prompt" | "messages", "tools", "answer", "reward", "metadata"}; other keys are
//          problems
//   suite  {"id", "category", "prompt" | "messages", "system", "tools", "answer", "scorer",
//          "calls"}, the cases of `hone eval` (docs/suites.md); other keys are problems
//   verl   {"data_source", "prompt": [...], "ability", "reward_model": {"ground_truth"},
//          "extra_info"}; other columns become metadata
//   trl    {"prompt" | "question" | "messages", "tools", "answer" | "solution" | "ground_truth" |
//          "completion"}, as TRL and verifiers have them; other columns become metadata
//   gsm8k, math, qa    rows of benchmarks as their authors write them (envs/benchmark_rows.h), with
//          the kind of their answers; where `keys` name columns, they are read as trl
//
// `keys` say where the prompt and the answer are, where the columns are called otherwise.
// Only rows of Hone need an id: they are called by their index or their line. Every problem of
// every line is listed: text that is no JSON, missing and wrong fields, ids that come twice, tools
// that cannot be read, gold calls (reward.calls, metadata.plan) to tools that are not there or with
// arguments that do not fit, references of plans that lead nowhere, answers that are not what the
// task or its plan says they are. `tools` are those
// that every task has beside its own; may be null.
TaskFile ReadTaskFile(std::string_view text, const Toolbox* tools, const TaskKeys& keys = {});

// All of them in one error, one line each ("tasks.jsonl:3: ..."), or success.
Result<void> NoProblems(const TaskFile& file, std::string_view name);

}  // namespace hone
