#pragma once

#include "envs/registration.h"

namespace hone::study {

RegisteredEnvironment RegisterStudy();

}  // namespace hone::study
