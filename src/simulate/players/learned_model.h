#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "engine/engine.h"
#include "simulate/journaled_calls.h"
#include "simulate/players/answer_training.h"
#include "simulate/players/player.h"
#include "simulate/result_rules.h"
#include "simulate/write_effects.h"
#include "text/tokenizer.h"

namespace hone {

// A small decoder and its tokenizer, to play tools with.
struct LearnedModel {
  std::unique_ptr<Engine> engine;
  std::unique_ptr<Tokenizer> tokenizer;
  WriteEffects effects;  // what need not be guessed
  ResultRules rules;     // and more of it
  // By tool, the tools whose answers it was shown in the record. What a model was never shown of
  // others it cannot read.
  std::map<std::string, std::vector<std::string>> shown;

  // A Hugging Face folder with tokenizer.json and simulator.json (format, version, effects, rules,
  // shown).
  Result<void> Save(const std::filesystem::path& folder) const;
  static Result<LearnedModel> Load(const std::filesystem::path& folder, int threads = 0);
};

// LearnedModel::shown, for files and versions.
Json ShownJson(const std::map<std::string, std::vector<std::string>>& shown);

// Trains a fresh model on recorded calls. The same calls and options give the same weights, to the
// bit, on any number of threads. An error when there are no calls, or shapes do not fit.
Result<LearnedModel> TrainLearnedModel(
    const JournaledCalls& recorded, const LearnedOptions& options, TrainingReport* report,
    const std::function<void(const TrainingProgress&)>& progress);

struct LearnedPlayerOptions {
  double temperature = 1;  // below it, different calls get the same answer too often
  double min_p = 0.01;     // tokens less likely than this share of the likeliest are never drawn
  int64_t max_tokens = 512;
  // Work out what the record tells for certain (simulate/write_effects.h, result_rules.h) instead
  // of drawing it. Without it the decoder is on its own.
  bool effects = true;
};

// Plays tools with it. Whether a call is refused is what the model finds likelier; what an answer
// says is a sample of what it has learned that such calls get. What a write does to a later read is
// worked out where the record told it, and not guessed.
std::unique_ptr<Player> NewLearnedPlayer(LearnedModel model, LearnedPlayerOptions options);

}  // namespace hone
