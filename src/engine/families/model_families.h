#pragma once

#include "engine/families/config_reader.h"
#include "engine/model_config.h"

namespace hone {

// What the families differ in, as their files and Hugging Face's transformers say it.

// Of "model_type". The error lists those that there are.
Result<ModelConfig::Family> FamilyOf(const Json& json);
// The model_type and class that a fresh model of the family is written with.
struct FamilyNames {
  const char *type, *architecture;
};
FamilyNames NamesOf(ModelConfig::Family family);

// What holds for every model of the family: where norms stand, which biases there are, and what is
// meant where a file says nothing.
void SetFamilyDefaults(ConfigReader* reader, ModelConfig* config);
// What the family's own keys say: windows, caps, experts, activation. The shape is known.
void ReadFamilyKeys(ConfigReader* reader, ModelConfig* config);

}  // namespace hone
