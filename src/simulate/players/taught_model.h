#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "simulate/journaled_calls.h"
#include "simulate/players/answer_training.h"
#include "simulate/players/model_prompt.h"
#include "text/tokenizer.h"
#include "tools/toolbox.h"

namespace hone {

// What tools of one world answered, with their descriptions: something to learn playing from.
struct Lesson {
  std::shared_ptr<const Toolbox> tools;
  JournaledCalls calls;
};

struct TeachingOptions {
  LearnedOptions model{.status_weight = 1};  // here an answer's first token says nothing
  int64_t examples = 6;                      // recorded calls that a prompt shows
  PromptStyle prompt = PromptStyle::kBrief;
  std::string dialect = "hermes";
};

// A small language model that was taught to play tools.
struct TaughtModel {
  std::unique_ptr<Engine> engine;
  std::unique_ptr<Tokenizer> tokenizer;

  // A Hugging Face folder with tokenizer.json, for simulators of kind "model".
  Result<void> Save(const std::filesystem::path& folder) const;
};

// Teaches a fresh decoder to answer calls from the tool's description and a few recorded calls, as
// NewModelPlayer shows them: not what certain tools do, but how to read what tools did. So it can
// play tools that were in no lesson. The examples of a call are of its own lesson; how much of the
// lesson they are chosen from differs from call to call, so that it learns to do with little. The
// same lessons and options give the same weights, to the bit, on any number of threads.
Result<TaughtModel> TeachModel(const std::vector<Lesson>& lessons, const TeachingOptions& options,
                               TrainingReport* report,
                               const std::function<void(const TrainingProgress&)>& progress);

}  // namespace hone
