#include "train/run_model.h"

#include <algorithm>

#include <fmt/format.h>

#include "engine/lora.h"
#include "text/bpe_trainer.h"
#include "text/template_dialect.h"

namespace hone {
namespace {

// The text between the markers, which are tokens of their own and teach a tokenizer nothing.
void AddPlainParts(std::string_view text, const std::vector<std::string>& markers,
                   std::vector<std::string>* parts) {
  while (!text.empty()) {
    size_t begin = text.size(), length = 0;
    for (const std::string& marker : markers) {
      const size_t found = text.find(marker);
      if (found < begin || (found == begin && found < text.size() && marker.size() > length)) {
        begin = found;
        length = marker.size();
      }
    }
    if (begin > 0) parts->emplace_back(text.substr(0, begin));
    text.remove_prefix(std::min(text.size(), begin + length));
  }
}

Result<std::vector<std::string>> TextsOf(const Dialect& dialect, const Conversation& conversation) {
  HONE_ASSIGN_OR_RETURN(const std::vector<Piece> pieces, dialect.Render(conversation));
  std::vector<std::string> texts;
  for (const Piece& piece : pieces) AddPlainParts(piece.text, dialect.traits().markers, &texts);
  return texts;
}

// What a policy would read and write in this episode.
Result<std::vector<std::string>> TextsOf(const Dialect& dialect, const Playthrough& played) {
  HONE_ASSIGN_OR_RETURN(Conversation conversation, ConversationOf(played.opening));
  for (const PlayedTurn& turn : played.turns) {
    conversation.messages.push_back(MessageOf(turn.agent));
    for (Message& message : MessagesAfter(turn.agent, turn.environment)) {
      conversation.messages.push_back(std::move(message));
    }
  }
  return TextsOf(dialect, conversation);
}

// What the conversations say, those that are held out left out. Of more than are wanted it takes
// some of every file, evenly.
Result<std::vector<std::string>> TextsOf(const PolicyModelOptions& settings, const Dialect& dialect,
                                         const ConversationMixture& conversations) {
  std::vector<const ConversationMixture::Placed*> all;
  for (const auto& file : conversations.files()) {
    for (const ConversationMixture::Placed& placed : file) all.push_back(&placed);
  }
  const size_t wanted = std::min(all.size(), static_cast<size_t>(settings.texts));
  std::vector<std::string> texts;
  for (size_t i = 0; i < wanted; ++i) {
    const ConversationMixture::Placed& placed = *all[i * all.size() / wanted];
    if (!placed.row.text.empty()) {
      texts.push_back(placed.row.text);
      continue;
    }
    Result<std::vector<std::string>> more = TextsOf(dialect, placed.row.conversation);
    if (!more.ok()) return more.error().In(placed.place);
    std::move(more->begin(), more->end(), std::back_inserter(texts));
  }
  return texts;
}

Result<Tokenizer> TokenizerOf(const PolicyModelOptions& settings, const Dialect& dialect,
                              const std::vector<std::string>& texts) {
  return TrainBpe(texts, {.vocab_size = static_cast<int32_t>(settings.vocabulary),
                          .min_frequency = settings.min_frequency,
                          .split = std::string(kEntitySplit),
                          .nfc = false,
                          .added = AddedTokensOf(dialect.traits())});
}

Result<Tokenizer> TrainTokenizer(const PolicyModelOptions& settings, const Dialect& dialect,
                                 Demonstrator* demonstrator, const SetUpHooks& hooks) {
  // What is played again says the same: it is only counted again, so that words are as frequent.
  const int64_t played = DemonstrationsForTokenizer(settings, *demonstrator, nullptr);
  if (hooks.note) {
    hooks.note(
        fmt::format("making the tokenizer: from {} demonstrations, which are carried out", played));
  }
  std::vector<std::string> texts;
  std::vector<size_t> begins;  // of each demonstration
  for (int64_t i = 0; i < played; ++i) {
    if (hooks.stop && hooks.stop()) {
      return Error(ErrorCode::kStopped,
                   fmt::format("stopped after {} of the {} demonstrations that the tokenizer is "
                               "made from; the same command begins again",
                               i, played));
    }
    if (hooks.progress) hooks.progress("demonstrations", i, played);
    HONE_ASSIGN_OR_RETURN(const Demonstrator::Shown shown,
                          demonstrator->Show(static_cast<uint64_t>(i)));
    HONE_ASSIGN_OR_RETURN(std::vector<std::string> more, TextsOf(dialect, shown.played));
    begins.push_back(texts.size());
    std::move(more.begin(), more.end(), std::back_inserter(texts));
  }
  begins.push_back(texts.size());
  for (int64_t i = played; i < settings.texts; ++i) {
    const auto same = static_cast<size_t>(i % played);
    for (size_t t = begins[same]; t < begins[same + 1]; ++t) texts.push_back(texts[t]);
  }
  if (hooks.progress) hooks.progress("demonstrations", played, played);
  return TokenizerOf(settings, dialect, texts);
}

}  // namespace

int64_t DemonstrationsForTokenizer(const PolicyModelOptions& settings, const Demonstrator& shows,
                                   const ConversationMixture* conversations) {
  if (!settings.folder.empty() || conversations != nullptr) return 0;
  return std::min(settings.texts, static_cast<int64_t>(shows.tasks().value_or(UINT32_MAX)));
}

Result<RunLanguage> LanguageOf(const PolicyModelOptions& settings, Tokenizer tokenizer) {
  RunLanguage language;
  HONE_ASSIGN_OR_RETURN(language.dialect, NewDialect(DialectIn(settings.dialect, settings.folder)));
  language.tokenizer = std::make_unique<Tokenizer>(std::move(tokenizer));
  HONE_ASSIGN_OR_RETURN(language.codec,
                        TurnCodec::New(language.dialect.get(), language.tokenizer.get()));
  return language;
}

namespace {

// That of the folder which the recipe names, or the one that is made.
Result<RunLanguage> LanguageFrom(const PolicyModelOptions& settings,
                                 const std::function<Result<Tokenizer>(const Dialect&)>& make) {
  if (!settings.folder.empty()) {
    HONE_ASSIGN_OR_RETURN(Tokenizer tokenizer, Tokenizer::Load(settings.folder));
    return LanguageOf(settings, std::move(tokenizer));
  }
  HONE_ASSIGN_OR_RETURN(const auto dialect, NewDialect(settings.dialect));
  HONE_ASSIGN_OR_RETURN(Tokenizer tokenizer, make(*dialect));
  return LanguageOf(settings, std::move(tokenizer));
}

}  // namespace

Result<RunLanguage> MakeLanguage(const PolicyModelOptions& settings, Demonstrator* demonstrator,
                                 const SetUpHooks& hooks) {
  return LanguageFrom(settings, [&](const Dialect& dialect) {
    return TrainTokenizer(settings, dialect, demonstrator, hooks);
  });
}

Result<RunLanguage> MakeLanguage(const PolicyModelOptions& settings,
                                 const ConversationMixture& conversations,
                                 const SetUpHooks& hooks) {
  return LanguageFrom(settings, [&](const Dialect& dialect) -> Result<Tokenizer> {
    if (hooks.note) hooks.note("making the tokenizer: from the conversations");
    HONE_ASSIGN_OR_RETURN(const std::vector<std::string> texts,
                          TextsOf(settings, dialect, conversations));
    return TokenizerOf(settings, dialect, texts);
  });
}

namespace {

ModelConfig FreshConfig(const PolicyModelOptions& settings, const Tokenizer& tokenizer) {
  ModelConfig config = settings.fresh;
  config.vocab = tokenizer.vocab_size();
  return config;
}

}  // namespace

Result<Model> MakeModel(const PolicyModelOptions& settings, const Tokenizer& tokenizer,
                        uint64_t seed) {
  Model model;
  if (settings.folder.empty()) {
    model = NewModel(FreshConfig(settings, tokenizer));
    InitializeModel(Rng(seed).Split("weights").NextU64(), &model);
  } else {
    HONE_ASSIGN_OR_RETURN(model, LoadModelWithAdapters(settings.folder));
    if (!model.lora.empty()) MergeLora(&model);  // what was learned before is the base now
  }
  if (settings.lora) {
    LoraOptions lora = *settings.lora;
    lora.seed = Rng(seed).Split("lora").NextU64();
    HONE_RETURN_IF_ERROR(AddLora(lora, &model));
  }
  return model;
}

Result<Model> ModelShapeOf(const PolicyModelOptions& settings, const Tokenizer& tokenizer) {
  ModelConfig config = FreshConfig(settings, tokenizer);
  if (!settings.folder.empty()) {
    HONE_ASSIGN_OR_RETURN(config, LoadModelConfig(settings.folder));
  }
  Model shape = ModelShape(config);
  if (settings.lora) HONE_RETURN_IF_ERROR(AddLora(*settings.lora, &shape));
  return shape;
}

Engine::Options EngineOptions(const TrainingRecipe& recipe, const RunLanguage& language,
                              int64_t vocabulary) {
  return {.precision = recipe.model.precision,
          .threads = static_cast<int>(recipe.run.threads),
          .recompute_activations = recipe.model.recompute_activations,
          .device = recipe.model.device,
          .small_moments = recipe.model.small_moments,
          .forbidden = ForbiddenTokens(*language.dialect, *language.tokenizer, vocabulary),
          .sampler = {}};
}

}  // namespace hone
