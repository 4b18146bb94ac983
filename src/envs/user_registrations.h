#pragma once

#include "envs/registration.h"

namespace hone {

// The environments of users: data_env.h and command_env.h with the tools and task files of a
// recipe.
RegisteredEnvironment RegisterData();
RegisteredEnvironment RegisterCommand();
// Nowhere: no tools and no tasks.
RegisteredEnvironment RegisterNone();

}  // namespace hone
