#pragma once

#include <filesystem>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "engine/engine.h"
#include "text/dialect.h"
#include "text/grammar/grammar_tokens.h"
#include "text/tokenizer.h"
#include "train/folder/agent_card.h"
#include "train/folder/model_place.h"

namespace hone {

// What a command line says of a model that is to be talked to.
struct ServedModelChoice {
  std::string model;                 // a run, a checkpoint or a Hugging Face folder
  std::string checkpoint = "last";   // of a run: last, best or a step
  std::string name;                  // what clients call it; empty: the name of its folder
  std::string dialect;               // empty: as it was trained, else its own template, else hermes
  std::string tokenizer;             // when it is not in the folder
  std::string precision;             // f32 or bf16; empty: that of its run, else bf16
  std::optional<DeviceKind> device;  // absent: that of its run, else auto
  int64_t threads = 0;               // 0: as many as the machine has
  int64_t memory = int64_t{1} << 30;  // bytes of keys and values at most
};

// What no prompt can be longer than, known before it is cut into tokens, which takes many times
// its memory.
struct PromptLimit {
  int64_t positions = 0;                              // of the model
  size_t bytes = std::numeric_limits<size_t>::max();  // of a prompt that may still fit

  // The error is that of a prompt beyond the model's positions, which it calls `name`.
  Result<void> Check(std::string_view name, size_t prompt_bytes) const;
};

// So many times the tokenizer's longest token as the model has positions, and four times that: NFC
// makes as little as two bytes out of seven. Without bound where an added token takes in the blanks
// around it, however many there are.
PromptLimit PromptLimitOf(const Tokenizer& tokenizer, int64_t positions);

struct ServedModel {
  std::string name;
  int64_t version = 0;  // the training step that the weights are of; 0: not of a run
  std::string weights;  // SHA-256 of them
  std::unique_ptr<Tokenizer> tokenizer;
  std::unique_ptr<Dialect> dialect;
  // Of whoever draws (serve/batcher.h). Others read what follows, which another engine of the same
  // model does not change.
  std::unique_ptr<Engine> engine;
  ModelConfig config;
  std::vector<TokenId> forbidden;  // by the dialect; the engine was opened with them
  ModelPlace place;                // where it lies
  Engine::Options engine_options;  // that it was opened with
  PromptLimit limit;
  std::optional<AgentCard> card;  // how it was trained; absent: nobody knows

  // The engine that it is opened with, before others read.
  void Take(std::unique_ptr<Engine> opened);

  // Made when it is first asked for. Thread-safe.
  const TokensByText& Tokens() const;

 private:
  mutable std::once_flag tokens_made_;
  mutable std::unique_ptr<TokensByText> tokens_;
};

// The errors say what is wrong with the choice and what there is.
Result<std::unique_ptr<ServedModel>> OpenServedModel(const ServedModelChoice& choice);

// Writes the model as it is now, with the state of its training and with what its folder has beside
// the weights: whoever opened that can open this. `more` are further files, by name. In the place
// of a folder that is there.
Result<void> SaveServedModel(const ServedModel& model, const std::filesystem::path& folder,
                             const std::map<std::string, std::string>& more = {});

}  // namespace hone
