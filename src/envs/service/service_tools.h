#pragma once

#include <memory>

#include "tools/toolkit.h"

namespace hone::service {

// The tools of the service desk. A session is a shop of its own, which calls change and which can
// be cloned; what a read says depends on the writes before it.
std::unique_ptr<Toolkit> NewShopToolkit();

}  // namespace hone::service
