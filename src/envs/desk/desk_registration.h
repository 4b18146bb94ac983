#pragma once

#include "envs/registration.h"

namespace hone::desk {

RegisteredEnvironment RegisterDesk();
// Its single-turn form. It has no teacher: there is one turn to show.
RegisteredEnvironment RegisterQuiz();

}  // namespace hone::desk
