#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"

namespace hone {

// A model's own chat templates, as they are, and the tokens they ask for by name.
struct ModelTemplate {
  std::string where;  // the folder or file, for messages
  // By name, in their order: "default", "tool_use", "rag", ... At least one.
  std::vector<std::pair<std::string, std::string>> sources;
  // "bos_token", "eos_token", ...
  std::map<std::string, std::string> tokens;

  // What ends a turn according to generation_config.json ("<|eot_id|>", "<|eom_id|>"), in its
  // order.
  std::vector<std::string> stops;

  // The text of that name; null when there is none.
  const std::string* Find(std::string_view name) const;
};

// From a Hugging Face folder, where transformers look: chat_template.jinja (and
// additional_chat_templates/NAME.jinja), else the chat_template of tokenizer_config.json, which is
// one text or a list of named ones, else chat_template.json; tokens from tokenizer_config.json and
// special_tokens_map.json, stops from generation_config.json. Or from a file of Jinja (then tokens
// are those of the folder it is in). kNotFound, with what to do, when the model has none.
Result<ModelTemplate> LoadModelTemplate(const std::filesystem::path& path);

}  // namespace hone
