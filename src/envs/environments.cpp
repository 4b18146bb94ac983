#include "envs/environments.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/nearest.h"
#include "envs/desk/desk_registration.h"
#include "envs/mixture.h"
#include "envs/service/service_registration.h"
#include "envs/study/study_registration.h"
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

EnvironmentOptions ReadOne(RecipeTable settings, bool has_user, EnvironmentTable table) {
  std::vector<std::string> kinds;
  for (const RegisteredEnvironment& one : table) kinds.push_back(one.name);
  std::string kind(kUsualKind);
  settings.ReadChoice("kind", &kind, kinds, "of environment");
  const RegisteredEnvironment* found = FindEnvironment(kind, table);
  CHECK(found != nullptr, "a table without the usual kind");
  const KindTraits traits = found->traits;
  EnvironmentOptions environment = found->read(settings, has_user && traits.asks_user);
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

void NobodyAsks(const std::string& kind, RecipeTable* root, EnvironmentTable table) {
  root->Problem("user", fmt::format("nobody asks the user in {}; only {} do", kind,
                                    EnvironmentsWith(&KindTraits::asks_user, table)));
}

// One [[environment]].
struct ListedEnvironment {
  EnvironmentOptions options;
  double weight = 1;
  std::vector<std::string> tools;  // of the recipe's; empty: all
};

ListedEnvironment ReadListed(RecipeTable settings, bool has_user, EnvironmentTable table) {
  ListedEnvironment one{.options = ReadOne(settings, has_user, table)};
  // Other kinds have read it already.
  if (one.options.traits.in_process) {
    one.options.name = one.options.kind;
    settings.Read("name", &one.options.name, "of the environment");
  } else {
    settings.Read("tools", &one.tools, "which of the tools it has; a final * stands for any end");
  }
  settings.Read("weight", &one.weight, "how often its tasks are practised, against the others'",
                Above(0));
  if (one.options.name.empty() || one.options.name.find_first_of("/=") != std::string::npos) {
    settings.Problem("name", "must be a name without / and =");
  }
  return one;
}

// The recipe's tools as one of several environments has them. `taken`: somebody takes them all.
Result<std::shared_ptr<const Toolbox>> ToolsOf(const ListedEnvironment& one, bool taken,
                                               const std::shared_ptr<const Toolbox>& tools) {
  if (tools == nullptr) return tools;
  const KindTraits& traits = one.options.traits;
  std::vector<std::string> wanted = one.tools;
  // Who brings tools of its own leaves these to the others.
  if (!traits.in_process && wanted.empty()) return tools;
  if (traits.in_process && !taken) return tools;
  for (const std::string& name : wanted) {
    if (!tools->Only({name}).tools().empty()) continue;
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("environment {}: tools: no tool of the recipe is called \"{}\"",
                             one.options.name, name));
  }
  if (traits.asks_user) wanted.emplace_back(kUserTool);
  return std::make_shared<const Toolbox>(tools->Only(wanted));
}

EnvironmentOptions ReadSeveral(RecipeTable* root, EnvironmentTable table) {
  const bool has_user = root->Has("user");
  std::vector<ListedEnvironment> listed;
  EnvironmentOptions all;
  all.traits = {.in_process = true, .own_errors = true};
  bool asked = false;
  for (RecipeTable& settings : root->Tables("environment")) {
    listed.push_back(ReadListed(settings, has_user, table));
    const EnvironmentOptions& one = listed.back().options;
    if (std::find(all.members.begin(), all.members.end(), one.name) != all.members.end()) {
      settings.Problem("name", fmt::format("two environments are called \"{}\"; give one another "
                                           "name",
                                           one.name));
    }
    all.members.push_back(one.name);
    all.kind += (all.kind.empty() ? "" : " + ") + one.name;
    all.traits.in_process = all.traits.in_process && one.traits.in_process;
    all.traits.has_teacher = all.traits.has_teacher || one.traits.has_teacher;
    if (one.traits.has_teacher && !one.traits.own_errors) all.traits.own_errors = false;
    asked = asked || one.traits.asks_user;
    all.files.insert(all.files.end(), one.files.begin(), one.files.end());
    // The model must have room for the largest.
    std::optional<int64_t>& most = all.rules.budgets.context_tokens;
    most = std::max(most, one.rules.budgets.context_tokens);
  }
  all.traits.asks_user = asked;
  all.traits.own_errors = all.traits.own_errors && all.traits.has_teacher;
  if (has_user && !asked) NobodyAsks(all.kind, root, table);
  if (listed.empty()) {
    root->Problem("environment", "there is none: write [[environment]] at least once");
  }
  const bool taken = !all.traits.in_process;
  all.make = [=](const std::shared_ptr<const Toolbox>& tools) -> Result<LoadedEnvironment> {
    std::vector<EnvironmentMember> members;
    for (const ListedEnvironment& one : listed) {
      HONE_ASSIGN_OR_RETURN(auto own, ToolsOf(one, taken, tools));
      Result<LoadedEnvironment> loaded = one.options.make(std::move(own));
      if (!loaded.ok()) return loaded.error().In(fmt::format("environment {}", one.options.name));
      members.push_back({one.options.name, one.weight,
                         std::make_shared<const LoadedEnvironment>(*std::move(loaded))});
    }
    return Mixed(std::move(members));
  };
  return all;
}

}  // namespace

const std::vector<RegisteredEnvironment>& BuiltInEnvironments() {
  static const std::vector<RegisteredEnvironment> all = {
      desk::RegisterDesk(),       desk::RegisterQuiz(),
      service::RegisterService(), switchboard::RegisterSwitchboard(),
      study::RegisterStudy(),     RegisterData(),
      RegisterCommand(),          RegisterOpenEnv()};
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
  if (root.HasList("environment")) return ReadSeveral(&root, table);
  const bool has_user = root.Has("user");
  EnvironmentOptions environment = ReadOne(root.Table("environment"), has_user, table);
  if (has_user && !environment.traits.asks_user) NobodyAsks(environment.kind, &root, table);
  return environment;
}

}  // namespace hone
