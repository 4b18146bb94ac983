#pragma once

#include "envs/registration.h"

namespace hone::service {

RegisteredEnvironment RegisterService();

}  // namespace hone::service
