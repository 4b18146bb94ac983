#include "serve/served_model.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/file.h"
#include "rollout/policy.h"
#include "serve/request.h"
#include "text/template_dialect.h"
#include "train/folder/run_folder.h"
#include "train/recipe_checks.h"
#include "train/training_recipe.h"

namespace hone {

Result<void> PromptLimit::Check(std::string_view name, size_t prompt_bytes) const {
  if (prompt_bytes <= bytes) return {};
  return Error(ErrorCode::kInvalidArgument,
               fmt::format("{}: this model's {} is {} tokens, which {} bytes never fit into; "
                           "shorten it",
                           name, kContextLength, positions, prompt_bytes));
}

PromptLimit PromptLimitOf(const Tokenizer& tokenizer, int64_t positions) {
  constexpr size_t kMostByNormalisation = 4;
  PromptLimit limit{.positions = positions};
  for (const AddedToken& token : tokenizer.added()) {
    if (token.lstrip || token.rstrip) return limit;
  }
  size_t longest = 1;
  for (TokenId id = 0; id < tokenizer.vocab_size(); ++id) {
    longest = std::max(longest, tokenizer.TokenBytes(id).size());
  }
  limit.bytes = static_cast<size_t>(positions) * longest * kMostByNormalisation;
  return limit;
}

Result<std::unique_ptr<ServedModel>> OpenServedModel(const ServedModelChoice& choice) {
  auto served = std::make_unique<ServedModel>();
  HONE_ASSIGN_OR_RETURN(served->place, FindModel(choice.model, choice.checkpoint));
  const ModelPlace& place = served->place;
  PolicyModelOptions settings;
  if (!place.run.empty()) {
    HONE_ASSIGN_OR_RETURN(settings, ReadTrainedModel(place.run));
  }
  HONE_ASSIGN_OR_RETURN(served->card, ReadAgentCard(place.folder));
  if (place.run.empty() && served->card) {
    settings.dialect = served->card->dialect;
  } else if (place.run.empty() && LoadModelTemplate(place.folder).ok()) {
    settings.dialect = "template";
  }
  if (!choice.dialect.empty()) settings.dialect = choice.dialect;
  settings.dialect = DialectIn(settings.dialect, TemplateFolder(place, settings.folder));
  if (!choice.precision.empty()) {
    settings.precision = choice.precision == "f32" ? Precision::kF32 : Precision::kBf16;
  }
  const std::filesystem::path tokenizer_at =
      choice.tokenizer.empty() ? place.folder : std::filesystem::path(choice.tokenizer);
  HONE_ASSIGN_OR_RETURN(Tokenizer tokenizer, Tokenizer::Load(tokenizer_at));
  HONE_ASSIGN_OR_RETURN(const ModelConfig config, LoadModelConfig(place.folder));
  if (tokenizer.vocab_size() > config.vocab) {
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("the tokenizer has {} tokens, the model only {}; give the model's own "
                             "(--tokenizer)",
                             tokenizer.vocab_size(), config.vocab));
  }
  served->limit = PromptLimitOf(tokenizer, config.max_positions);
  served->tokenizer = std::make_unique<Tokenizer>(std::move(tokenizer));
  HONE_ASSIGN_OR_RETURN(served->dialect, NewDialect(settings.dialect));
  HONE_RETURN_IF_ERROR(CheckMarkers(*served->tokenizer, *served->dialect, tokenizer_at.string()));
  Engine::Options options;
  options.precision = settings.precision;
  options.device = choice.device.value_or(settings.device);
  options.threads = static_cast<int>(choice.threads);
  options.forbidden = ForbiddenTokens(*served->dialect, *served->tokenizer, config.vocab);
  options.sampler.memory = choice.memory;
  served->engine_options = options;
  HONE_ASSIGN_OR_RETURN(auto engine, OpenModel(place.folder, std::move(options)));
  served->Take(std::move(engine));
  if (IsCheckpoint(place.folder)) {
    HONE_ASSIGN_OR_RETURN(const TrainingState state, ReadTrainingState(place.folder));
    served->version = state.step;
  }
  served->weights = served->engine->WeightsHash();
  served->name = choice.name;
  if (served->name.empty()) {
    const auto& named = place.run.empty() ? place.folder : place.run;
    served->name = std::filesystem::weakly_canonical(named).filename().string();
  }
  return served;
}

void ServedModel::Take(std::unique_ptr<Engine> opened) {
  engine = std::move(opened);
  config = engine->config();
  forbidden = engine->forbidden();
}

Result<void> SaveServedModel(const ServedModel& model, const std::filesystem::path& folder,
                             const std::map<std::string, std::string>& more) {
  const std::filesystem::path& from = model.place.folder;
  const std::filesystem::path aside = folder.string() + ".unfinished";
  HONE_RETURN_IF_ERROR(model.engine->Save(aside, SaveType::kBf16, folder.string()));
  HONE_RETURN_IF_ERROR(WriteFileAtomic(aside / "tokenizer.json", model.tokenizer->ToJson()));
  for (const char* name :
       {"tokenizer_config.json", "special_tokens_map.json", "generation_config.json",
        "chat_template.jinja", kAgentFile, kDialectFile}) {
    std::error_code failed;
    if (!std::filesystem::exists(from / name, failed)) continue;
    if (!std::filesystem::copy_file(from / name, aside / name, failed) && failed) {
      return Error(ErrorCode::kIo,
                   fmt::format("cannot copy {}: {}", (from / name).string(), failed.message()));
    }
  }
  for (const auto& [name, text] : more) {
    HONE_RETURN_IF_ERROR(WriteFileAtomic(aside / name, text));
  }
  return ReplaceDirectory(aside, folder);
}

const TokensByText& ServedModel::Tokens() const {
  std::call_once(tokens_made_, [&] { tokens_ = std::make_unique<TokensByText>(tokenizer.get()); });
  return *tokens_;
}

}  // namespace hone
