#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/recipe.h"
#include "base/rng.h"
#include "envs/environment.h"
#include "envs/play.h"
#include "envs/rules.h"
#include "envs/split_files.h"
#include "envs/task_source.h"

// What an environment says of itself once, so that everybody else can use it without knowing its
// name: `RegisteredEnvironment` is its line in the table of environments.h.

namespace hone {

// Makes an agent that shows how a task is done, each thing going wrong with probability `error`.
using TeacherMaker =
    std::function<Result<std::unique_ptr<Agent>>(const Task& task, double error, Rng rng)>;

// How calls of the real tools are made for a record (evaluate/journaling.h). With neither of the
// two the gold agent plays, once plainly and once with slips.
struct JournalingManner {
  // Plays instead of the gold agent, which slips only now and then beside it.
  TeacherMaker teacher;
  bool teacher_alone = false;  // the gold agent does not play at all
  // The calls that show how the world of a session behaves; nobody plays then.
  std::function<std::vector<Call>(uint64_t session_seed, Rng rng)> exploration;
};

struct LoadedEnvironment;

// One of several environments that are used together (envs/mixture.h).
struct EnvironmentMember {
  std::string name;
  double weight = 1;  // how often its tasks are practised
  std::shared_ptr<const LoadedEnvironment> loaded;
};

// An environment ready to be used: with its rules and its tasks.
struct LoadedEnvironment {
  std::shared_ptr<const Environment> environment;
  std::shared_ptr<const TaskSource> tasks;
  // Plays a task as its plan says.
  std::function<Result<std::unique_ptr<Agent>>(const Task&)> gold_agent;
  Rules rules;
  TeacherMaker teacher;  // sloppy on purpose; null: there is nobody
  JournalingManner recording;
  std::vector<EnvironmentMember> members;  // where it is several in one; empty: it is not
};

// What holds of all environments of a kind, known before one is made.
struct KindTraits {
  // It brings its tools and its tasks, which are part of this program: fast, and the same every
  // time. It takes no tools of others, and needs nothing that a recipe would have to say.
  bool in_process = false;
  bool has_teacher = false;  // LoadedEnvironment::teacher is there
  // How often the teacher errs is said by [environment.tasks], and by nobody else.
  bool own_errors = false;
  bool asks_user = false;  // it takes the tool `user`, which a recipe's [user] plays
};

// An environment as a recipe has it. `make` is the second step: it takes the tools that the recipe
// names elsewhere, which may be programs and servers (null: none), and reads the task files.
struct EnvironmentOptions {
  std::string kind;
  std::string name;  // where a recipe of this kind has a `name`
  KindTraits traits;
  std::function<Result<LoadedEnvironment>(std::shared_ptr<const Toolbox> tools)> make;
  SplitFiles files;  // task files, as the recipe has them
  Rules rules;
  // The names of several environments in one ([[environment]]); empty: it is one.
  std::vector<std::string> members;
};

// One line of the table.
struct RegisteredEnvironment {
  std::string name;  // `kind` in a recipe
  KindTraits traits;
  // Reads the recipe's [environment]; `has_user` says whether there is a [user]. Problems are the
  // recipe's (Recipe::Finish). `kind` and `traits` of the result are filled in by ReadEnvironment.
  std::function<EnvironmentOptions(RecipeTable table, bool has_user)> read;
};

// The tool that plays the user: the environment's, never the agent's.
inline constexpr std::string_view kUserTool = "user";

}  // namespace hone
