#pragma once

#include <string>
#include <vector>

#include "simulate/journaled_calls.h"
#include "simulate/models/language_model.h"
#include "simulate/players/player.h"

namespace hone {

// How much a language model that plays tools is told.
enum class PromptStyle {
  kFull,   // what its part is, and the tool with its schemas: for models that follow instructions
  kBrief,  // the description and calls: for small models that were taught to (taught_model.h)
};

// Part of the version of whoever plays: to be raised with every change of what the model is shown.
inline constexpr int kPromptVersion = 2;

// Whether a recorded call may be an example: answers of more bytes are not shown.
inline constexpr size_t kMostExampleBytes = 2000;
bool IsShown(const RecordedCall& call);

// What the model is asked for a call; `examples` are recorded calls of the same tool.
std::vector<ChatMessage> PlayersPrompt(const SimulatedCall& call,
                                       const std::vector<const RecordedCall*>& examples,
                                       PromptStyle style);

// An answer as the model is to write it: the tool's, or an object with "error".
std::string WrittenAnswer(const PlayedResult& answer);

}  // namespace hone
