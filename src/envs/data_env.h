#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "envs/environment.h"
#include "envs/task_source.h"

namespace hone {

// When an answer is right.
enum class AnswerRule {
  kExact,   // the same text, byte for byte
  kText,    // the same but for case, blanks and punctuation at the ends; numbers by their value
  kReward,  // the environment has no opinion: the rewards compare
};

struct DataOptions {
  std::string name = "data";
  std::string system;        // put in front of tasks that have no system message of their own
  bool list_tools = true;    // show the tools to the agent
  bool single_turn = false;  // the first turn that can be read ends it
  AnswerRule answer = AnswerRule::kText;
};

// An environment that is nothing but data: tools from elsewhere, tasks from a file. The agent calls
// until it answers. A task's own "tools" are what the agent is shown; they must be in the toolbox.
// An answer is right by the kind that the task names ("reward": "math"), else by the options; kinds
// that need a program or another's verdict are left to the rewards.
std::shared_ptr<const Environment> NewDataEnvironment(std::shared_ptr<const Toolbox> tools,
                                                      const DataOptions& options);

// Tasks that were read from files.
std::unique_ptr<TaskSource> NewListedTasks(std::map<Split, std::vector<Task>> tasks);

// By the rule; a list of right answers means that any of them will do. kReward: never.
bool IsRightAnswer(AnswerRule rule, std::string_view answer, const Json& gold);

}  // namespace hone
