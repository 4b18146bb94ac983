#include "envs/switchboard/switchboard_registration.h"

#include "envs/agents.h"
#include "envs/switchboard/switchboard.h"
#include "envs/switchboard/switchboard_teacher.h"

namespace hone::switchboard {
namespace {

EnvironmentOptions ReadSwitchboard(RecipeTable table, bool /*has_user*/) {
  bool list_tools = false;
  table.Read("list_tools", &list_tools, "show the tool to the agent");
  const SwitchboardOptions options = ReadSwitchboardOptions(table.Table("tasks"));
  const Rules rules = ReadRules(table.Table("rules"), SwitchboardRules(options));
  EnvironmentOptions environment{.rules = rules};
  environment.make = [=](const std::shared_ptr<const Toolbox>&) -> Result<LoadedEnvironment> {
    const auto board = std::make_shared<const Board>(options.board);
    HONE_ASSIGN_OR_RETURN(auto made, NewSwitchboard(board, options, list_tools));
    const TeacherMaker teacher =
        NewSwitchboardTeacher(board, options.skip_refused ? options.tries : 0);
    // What is journaled is what the teacher shows: a gold agent would give the forms away.
    return LoadedEnvironment{.environment = WithRules(std::move(made), rules),
                             .tasks = NewSwitchboardTasks(board, options),
                             .gold_agent = NewPlanAgentFor,
                             .rules = rules,
                             .teacher = teacher,
                             .recording = {.teacher = teacher, .teacher_alone = true}};
  };
  return environment;
}

}  // namespace

RegisteredEnvironment RegisterSwitchboard() {
  return {"switchboard",
          {.in_process = true, .has_teacher = true, .own_errors = true},
          ReadSwitchboard};
}

}  // namespace hone::switchboard
