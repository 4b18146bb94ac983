#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/recipe.h"
#include "base/rng.h"
#include "envs/environment.h"
#include "envs/play.h"
#include "envs/rules.h"
#include "envs/task_source.h"

namespace hone {

// An environment ready to be used: with its rules and its tasks.
struct LoadedEnvironment {
  std::shared_ptr<const Environment> environment;
  std::shared_ptr<const TaskSource> tasks;
  // Plays a task as its plan says.
  std::function<Result<std::unique_ptr<Agent>>(const Task&)> gold_agent;
  Rules rules;
  // Shows how a task is done, sloppily (desk/teacher.h, service/teacher.h); null: there is nobody.
  std::function<Result<std::unique_ptr<Agent>>(const Task&, double teacher_error, Rng)> teacher;
};

// Those that come with the program, with one line about each.
struct BuiltInEnvironment {
  std::string name;
  EnvironmentKind kind = EnvironmentKind::kToolUse;
  std::string about;
};
std::vector<BuiltInEnvironment> BuiltInEnvironments();
// One of them, as it comes.
Result<LoadedEnvironment> NewBuiltIn(std::string_view name);

// The environment of a recipe (docs/environments.md):
//
//   [environment]
//   kind = "data"              # desk, quiz, service, data or command
//   system = "You are ..."     # data
//   train = "train.jsonl"      # data and command: task files by split (dev, test, ...)
//   [environment.tasks]        # desk, quiz and service: which tasks are made
//   [environment.rules]        # budgets, and what happens to turns that cannot be read
//
// Only reads; problems of the recipe are reported by Recipe::Finish. `make` is the second step: it
// takes the tools that the recipe names elsewhere, which may be programs and servers, and reads the
// task files. desk, quiz and service bring their own tools and take no others, but service takes
// the tool `user`, which then plays the customer; null: none.
struct EnvironmentPlan {
  std::string kind;
  std::function<Result<LoadedEnvironment>(std::shared_ptr<const Toolbox> tools)> make;
  std::vector<std::pair<Split, std::string>> files;  // task files, as the recipe has them
  Rules rules;
};
EnvironmentPlan ReadEnvironment(RecipeTable root);

}  // namespace hone
