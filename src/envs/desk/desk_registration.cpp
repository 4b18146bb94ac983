#include "envs/desk/desk_registration.h"

#include <algorithm>

#include "envs/agents.h"
#include "envs/desk/desk.h"
#include "envs/desk/desk_tasks.h"
#include "envs/desk/desk_teacher.h"

namespace hone::desk {
namespace {

EnvironmentOptions ReadDeskPlan(RecipeTable table, bool quiz) {
  DeskOptions options{.quiz = quiz};
  table.Read("list_tools", &options.list_tools, "show the tools to the agent");
  TaskOptions tasks = ReadTaskOptions(table.Table("tasks"));
  // A quiz is about one call at most: it has no second turn.
  if (quiz) tasks.max_calls = std::min<int64_t>(tasks.max_calls, 1);
  const Rules rules = ReadRules(table.Table("rules"), DeskRules());
  EnvironmentOptions environment{.rules = rules};
  environment.make = [=](const std::shared_ptr<const Toolbox>&) -> Result<LoadedEnvironment> {
    HONE_ASSIGN_OR_RETURN(auto desk, NewDesk(options));
    return LoadedEnvironment{.environment = WithRules(std::move(desk), rules),
                             .tasks = NewTaskSource(tasks),
                             .gold_agent = NewPlanAgentFor,
                             .rules = rules,
                             .teacher = quiz ? TeacherMaker() : NewTeacher,
                             .recording = {.teacher = NewTeacher}};
  };
  return environment;
}

}  // namespace

RegisteredEnvironment RegisterDesk() {
  return {"desk", {.in_process = true, .has_teacher = true}, [](RecipeTable table, bool) {
            return ReadDeskPlan(table, /*quiz=*/false);
          }};
}

RegisteredEnvironment RegisterQuiz() {
  return {"quiz", {.in_process = true}, [](RecipeTable table, bool) {
            return ReadDeskPlan(table, /*quiz=*/true);
          }};
}

}  // namespace hone::desk
