#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "envs/registration.h"
#include "envs/user_registrations.h"

// All environments, by name or by recipe. Whoever looks one up may bring another table, such
// as the built-in one with one line more (docs/howto/add-an-environment.md).

namespace hone {

using EnvironmentTable = std::span<const RegisteredEnvironment>;

// Those that come with the program.
const std::vector<RegisteredEnvironment>& BuiltInEnvironments();

// One that is part of the program (KindTraits::in_process), as it comes.
Result<LoadedEnvironment> NewBuiltIn(std::string_view name,
                                     EnvironmentTable table = BuiltInEnvironments());

// Null when there is none of that name.
const RegisteredEnvironment* FindEnvironment(std::string_view name,
                                             EnvironmentTable table = BuiltInEnvironments());

// The names of those that have the trait, for messages: "desk and service".
std::string EnvironmentsWith(bool KindTraits::*trait,
                             EnvironmentTable table = BuiltInEnvironments());

// The environment of a recipe (docs/environments.md):
//
//   [environment]
//   kind = "data"              # desk, quiz, service, switchboard, study, data or command
//   system = "You are ..."     # data
//   train = "train.jsonl"      # data and command: task files by split (dev, test, ...)
//   [environment.tasks]        # what is built in: which tasks are made
//   [environment.rules]        # budgets, and what happens to turns that cannot be read
//
// Only reads; problems of the recipe are reported by Recipe::Finish. An environment that is part of
// the program takes no tools but, where it asks one, the tool `user`.
EnvironmentOptions ReadEnvironment(RecipeTable root,
                                   EnvironmentTable table = BuiltInEnvironments());

}  // namespace hone
