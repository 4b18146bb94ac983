#pragma once

#include <memory>
#include <string>

#include "tools/toolkit.h"

namespace hone {

// The same tools under names that begin with `prefix`, for toolkits whose names meet.
std::shared_ptr<Toolkit> WithPrefix(std::shared_ptr<Toolkit> toolkit, std::string prefix);

}  // namespace hone
