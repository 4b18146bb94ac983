#pragma once

#include "engine/families/config_reader.h"
#include "engine/model_config.h"

namespace hone {

// Rotary settings of a config.json, as they stand under "rope_parameters" (transformers 5, for
// Gemma 3 one per kind of layer), or at the top with "rope_scaling". Where neither is there,
// gpt-oss has YaRN all the same.
void ReadRope(ConfigReader* top, ModelConfig* config);

}  // namespace hone
