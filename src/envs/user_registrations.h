#pragma once

#include "envs/registration.h"

namespace hone {

// The environments of users: data_env.h, command_env.h and openenv/openenv_env.h with the tools and
// task files of a recipe.
RegisteredEnvironment RegisterData();
RegisteredEnvironment RegisterCommand();
RegisteredEnvironment RegisterOpenEnv();

// The kind of a recipe without [environment]: nobody acts anywhere, and there are no tasks.
inline constexpr std::string_view kNoEnvironment = "none";
EnvironmentOptions NoEnvironment();

}  // namespace hone
