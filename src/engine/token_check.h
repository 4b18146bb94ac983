#pragma once

#include <span>

#include "base/result.h"
#include "engine/model_config.h"
#include "record/sampling.h"

namespace hone {

// Engine::CheckTokens for whoever knows the model's shape and has no engine at hand.
Result<void> CheckTokens(const ModelConfig& config, std::span<const TokenId> tokens);

}  // namespace hone
