#pragma once

#include "envs/registration.h"

namespace hone::switchboard {

RegisteredEnvironment RegisterSwitchboard();

}  // namespace hone::switchboard
