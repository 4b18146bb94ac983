#pragma once

#include <memory>

#include "text/dialect.h"

namespace hone {

// Whose chat template it follows; see hermes.cpp.
enum class HermesVariant { kQwen25, kQwen3, kQwen3Training };

std::unique_ptr<Dialect> NewHermes(HermesVariant variant);

}  // namespace hone
