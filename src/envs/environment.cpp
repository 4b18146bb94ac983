#include "envs/environment.h"

#include <algorithm>

namespace hone {

EnvironmentTurn Episode::Resume(const std::vector<ToolResult>&) {
  CHECK(false, "results for an episode that asked for none");
  return {};
}

std::string_view EnvironmentKindName(EnvironmentKind kind) {
  switch (kind) {
    case EnvironmentKind::kSingleTurn: return "single-turn";
    case EnvironmentKind::kToolUse: return "tool-use";
    case EnvironmentKind::kMultiTurn: return "multi-turn";
  }
  return "";
}

Result<Json> MessagesFor(const Task& task) {
  if (task.messages.is_array() && !task.messages.AsArray().empty()) return task.messages;
  return Error(ErrorCode::kInvalidArgument,
               "task \"" + task.id + "\": there are no messages; give it a \"prompt\"");
}

Json VisibleTools(const Environment& environment) {
  Json::Array schemas;
  for (const Toolbox::Tool& tool : environment.tools()->tools()) {
    if (!IsHidden(environment.traits(), tool.spec.name)) schemas.push_back(tool.spec.ToJson());
  }
  return schemas;
}

bool IsHidden(const EnvironmentTraits& traits, std::string_view tool) {
  return std::find(traits.hidden_tools.begin(), traits.hidden_tools.end(), tool) !=
         traits.hidden_tools.end();
}

}  // namespace hone
