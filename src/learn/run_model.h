#pragma once

#include <memory>

#include "learn/demonstrator.h"
#include "learn/training_recipe.h"
#include "text/dialect.h"

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

// The dialect and the tokenizer of the recipe's model: that of its folder, or one that is trained
// on what demonstrations say. The same seed, the same tokenizer.
Result<RunLanguage> MakeLanguage(const PolicyModelSettings& settings, Demonstrator* demonstrator);
// With a tokenizer that is there.
Result<RunLanguage> LanguageOf(const PolicyModelSettings& settings, Tokenizer tokenizer);

// The weights that a run begins with: the folder's, or fresh ones; with adapters where the recipe
// has them.
Result<Model> MakeModel(const PolicyModelSettings& settings, const Tokenizer& tokenizer,
                        uint64_t seed);

// How the engine of a run is opened: the agent may not write what is the environment's.
Engine::Options EngineOptions(const TrainingRecipe& recipe, const RunLanguage& language,
                              int64_t vocabulary);

}  // namespace hone
