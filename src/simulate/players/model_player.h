#pragma once

#include <memory>
#include <string>

#include "simulate/journaled_calls.h"
#include "simulate/models/language_model.h"
#include "simulate/players/model_prompt.h"
#include "simulate/players/player.h"

namespace hone {

struct ModelPlayerOptions {
  double temperature = 0.2;
  int64_t max_tokens = 1024;
  int64_t examples = 3;  // recorded calls of the same tool that are shown, the most alike first
  PromptStyle prompt = PromptStyle::kFull;
};

// A language model plays the tools: it is shown the tool's description and schemas, the arguments,
// recorded calls of the same tool, what was written before and what the world said then. `recorded`
// is the snapshot of a journal; null: none.
std::unique_ptr<Player> NewModelPlayer(std::shared_ptr<LanguageModel> model,
                                       std::shared_ptr<const JournaledCalls> recorded,
                                       ModelPlayerOptions options);

// What a model's text says: one JSON value, in a fence or by itself or after some words. An object
// with "error" that is not what the tool returns is the tool's refusal. Where the tool may return
// any text, the text is the answer.
PlayedResult ReadPlayedText(const std::string& text, const ToolSpec& spec);

}  // namespace hone
