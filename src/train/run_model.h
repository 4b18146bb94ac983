#pragma once

#include <functional>
#include <memory>
#include <string_view>

#include "data/conversation_mixture.h"
#include "text/dialect.h"
#include "train/demonstrator.h"
#include "train/training_recipe.h"

namespace hone {

// What a run speaks with. The codec points into the other two.
struct RunLanguage {
  std::unique_ptr<Dialect> dialect;
  std::unique_ptr<Tokenizer> tokenizer;
  std::optional<TurnCodec> codec;
};

// How a fresh model's tokenizer cuts text: digits one by one; a capitalised word without the blank
// before it, so that a name is the same token in a request and inside JSON; other words with one
// blank; signs in runs.
inline constexpr std::string_view kEntitySplit =
    R"(\p{N}| ?\p{Ll}+|\p{Lu}\p{Ll}*|\p{L}+|[^\s\p{L}\p{N}]+|\s+)";

// How whoever sets a run up hears what is being done, and ends it. Either may be absent.
struct SetUpHooks {
  std::function<bool()> stop = nullptr;                  // asked between demonstrations
  std::function<void(std::string_view)> note = nullptr;  // told what takes a while, beforehand
  // Told how far it is, and with what.
  std::function<void(std::string_view part, int64_t done, int64_t all)> progress = nullptr;
};

// The dialect and the tokenizer of the recipe's model: that of its folder, or one that is trained
// on what demonstrations say. The same seed, the same tokenizer. kStopped after `hooks.stop`.
Result<RunLanguage> MakeLanguage(const PolicyModelOptions& settings, Demonstrator* demonstrator,
                                 const SetUpHooks& hooks = {});
// The same, trained on what conversations say.
Result<RunLanguage> MakeLanguage(const PolicyModelOptions& settings,
                                 const ConversationMixture& conversations,
                                 const SetUpHooks& hooks = {});
// How many demonstrations that tokenizer is made from: no more than there are tasks. 0: there is
// one, or conversations make it.
int64_t DemonstrationsForTokenizer(const PolicyModelOptions& settings, const Demonstrator& shows,
                                   const ConversationMixture* conversations);
// With a tokenizer that is there.
Result<RunLanguage> LanguageOf(const PolicyModelOptions& settings, Tokenizer tokenizer);

// The weights that a run begins with: the folder's, or fresh ones; with adapters where the recipe
// has them.
Result<Model> MakeModel(const PolicyModelOptions& settings, const Tokenizer& tokenizer,
                        uint64_t seed);

// The same without the numbers of its weights, which are not read: only adapters have some.
Result<Model> ModelShapeOf(const PolicyModelOptions& settings, const Tokenizer& tokenizer);

// How the engine of a run is opened: the agent may not write what is the environment's.
Engine::Options EngineOptions(const TrainingRecipe& recipe, const RunLanguage& language,
                              int64_t vocabulary);

}  // namespace hone
