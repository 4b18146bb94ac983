#include "envs/service/service_registration.h"

#include "envs/service/explorer.h"
#include "envs/service/service.h"
#include "envs/service/service_tasks.h"
#include "envs/service/service_teacher.h"

namespace hone::service {
namespace {

EnvironmentOptions ReadServicePlan(RecipeTable table, bool /*has_user*/) {
  ServiceOptions options;
  table.Read("list_tools", &options.list_tools, "show the tools to the agent");
  table.Read("show_policy", &options.show_policy, "and the rules that it must obey");
  const TaskOptions tasks = ReadTaskOptions(table.Table("tasks"));
  const Rules rules = ReadRules(table.Table("rules"), ServiceRules());
  EnvironmentOptions environment{.rules = rules};
  environment.make = [=](const std::shared_ptr<const Toolbox>& tools) -> Result<LoadedEnvironment> {
    ServiceOptions with_user = options;
    if (const Toolbox::Tool* user = tools ? tools->Find(kUserTool) : nullptr) {
      with_user.user = tools->kits()[user->kit].toolkit;
      with_user.user_limits = tools->kits()[user->kit].limits;
    }
    HONE_ASSIGN_OR_RETURN(auto service, NewService(with_user));
    return LoadedEnvironment{.environment = WithRules(std::move(service), rules),
                             .tasks = NewTaskSource(tasks),
                             .gold_agent = NewClerk,
                             .rules = rules,
                             .teacher = NewTeacher,
                             .recording = {.exploration = ExplorationOf}};
  };
  return environment;
}

}  // namespace

RegisteredEnvironment RegisterService() {
  return {"service", {.in_process = true, .has_teacher = true, .asks_user = true}, ReadServicePlan};
}

}  // namespace hone::service
