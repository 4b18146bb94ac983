#include "envs/environments.h"

#include <fmt/format.h>

#include "base/nearest.h"
#include "envs/desk/desk_registration.h"
#include "envs/service/service_registration.h"
#include "envs/switchboard/switchboard_registration.h"
#include "envs/user_registrations.h"

namespace hone {
namespace {

constexpr std::string_view kUsualKind = "data";  // of a recipe that names none

// An environment that brings its tools has no use for others.
Result<void> TakesNone(const Toolbox& tools, const std::string& kind, bool asks_user) {
  for (const Toolbox::Tool& tool : tools.tools()) {
    if (asks_user && tool.spec.name == kUserTool) continue;
    return Error(
        ErrorCode::kInvalidArgument,
        fmt::format("{} brings its own tools and has no use for \"{}\"; take [[tools]] out "
                    "of the recipe",
                    kind, tool.spec.name));
  }
  return {};
}

std::vector<std::string> NamesWith(bool KindTraits::*trait, EnvironmentTable table) {
  std::vector<std::string> names;
  for (const RegisteredEnvironment& one : table) {
    if (one.traits.*trait) names.push_back(one.name);
  }
  return names;
}

}  // namespace

const std::vector<RegisteredEnvironment>& BuiltInEnvironments() {
  static const std::vector<RegisteredEnvironment> all = {desk::RegisterDesk(),
                                                         desk::RegisterQuiz(),
                                                         service::RegisterService(),
                                                         switchboard::RegisterSwitchboard(),
                                                         RegisterData(),
                                                         RegisterCommand(),
                                                         RegisterOpenEnv()};
  return all;
}

const RegisteredEnvironment* FindEnvironment(std::string_view name, EnvironmentTable table) {
  for (const RegisteredEnvironment& one : table) {
    if (one.name == name) return &one;
  }
  return nullptr;
}

std::string EnvironmentsWith(bool KindTraits::*trait, EnvironmentTable table) {
  const std::vector<std::string> names = NamesWith(trait, table);
  std::string text;
  for (size_t i = 0; i < names.size(); ++i) {
    text += (i == 0 ? "" : i + 1 == names.size() ? " and " : ", ") + names[i];
  }
  return text;
}

Result<LoadedEnvironment> NewBuiltIn(std::string_view name, EnvironmentTable table) {
  const RegisteredEnvironment* found = FindEnvironment(name, table);
  if (found == nullptr || !found->traits.in_process) {
    return Error(ErrorCode::kNotFound,
                 fmt::format("no environment \"{}\"{}; there are {}, or a recipe (a .toml file)",
                             name, DidYouMean(name, NamesWith(&KindTraits::in_process, table)),
                             EnvironmentsWith(&KindTraits::in_process, table)));
  }
  HONE_ASSIGN_OR_RETURN(
      Recipe recipe,
      Recipe::Parse(fmt::format("[environment]\nkind = \"{}\"\n", name), found->name));
  const EnvironmentOptions environment = ReadEnvironment(recipe.Root(), table);
  HONE_RETURN_IF_ERROR(recipe.Finish());
  return environment.make(nullptr);
}

EnvironmentOptions ReadEnvironment(RecipeTable root, EnvironmentTable table) {
  if (!root.Has("environment")) return NoEnvironment();
  RecipeTable settings = root.Table("environment");
  std::vector<std::string> kinds;
  for (const RegisteredEnvironment& one : table) kinds.push_back(one.name);
  std::string kind(kUsualKind);
  settings.ReadChoice("kind", &kind, kinds, "of environment");
  const RegisteredEnvironment* found = FindEnvironment(kind, table);
  CHECK(found != nullptr, "a table without the usual kind");
  const KindTraits traits = found->traits;
  const bool has_user = root.Has("user");
  if (has_user && !traits.asks_user) {
    root.Problem("user", fmt::format("nobody asks the user in {}; only {} do", kind,
                                     EnvironmentsWith(&KindTraits::asks_user, table)));
  }
  EnvironmentOptions environment = found->read(settings, has_user);
  environment.kind = kind;
  environment.traits = traits;
  if (!traits.in_process) return environment;
  environment.make = [make = std::move(environment.make), kind,
                      traits](std::shared_ptr<const Toolbox> tools) -> Result<LoadedEnvironment> {
    if (tools != nullptr) HONE_RETURN_IF_ERROR(TakesNone(*tools, kind, traits.asks_user));
    return make(std::move(tools));
  };
  return environment;
}

}  // namespace hone
