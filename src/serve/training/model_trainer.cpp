#include "serve/training/model_trainer.h"

#include <cmath>
#include <new>

#include <fmt/format.h>

#include "base/check.h"
#include "engine/lora.h"

namespace hone {
namespace {

// What samples the model as it was served, until training changes it.
constexpr std::string_view kBaseSampler = "base";

std::string SamplerName(const std::string& model_id, int64_t version) {
  return fmt::format("{}.version-{}", model_id, version);
}

Error Refused(std::string message) {
  return Error(ErrorCode::kInvalidArgument, std::move(message));
}

// Without the state of an optimiser.
std::unique_ptr<Engine> WithoutMoments(std::unique_ptr<Engine> engine,
                                       const Engine::Options& options) {
  Model weights = engine->model();
  engine.reset();
  return std::make_unique<Engine>(std::move(weights), options);
}

LoraOptions AdaptersFor(const CreateCall& call, uint64_t seed) {
  LoraOptions lora{.rank = call.rank, .alpha = 32, .targets = {}, .seed = call.seed.value_or(seed)};
  if (call.attention) lora.targets = {"q_proj", "k_proj", "v_proj", "o_proj"};
  if (call.mlp) lora.targets.insert(lora.targets.end(), {"gate_proj", "up_proj", "down_proj"});
  return lora;
}

}  // namespace

ModelTrainer::ModelTrainer(ServedModel* model, Options options)
    : model_(model), options_(std::move(options)), opened_(model->weights) {
  MutexLock lock(mutex_);
  state_.weights = opened_;
}

TrainerState ModelTrainer::state() const {
  MutexLock lock(mutex_);
  return state_;
}

template <typename Change>
void ModelTrainer::SetState(const Change& change) {
  MutexLock lock(mutex_);
  change(state_);
}

void ModelTrainer::LoseGradient() {
  model_->engine->ForgetGradients();
  SetState([](TrainerState& now) {
    now.lost |= now.accumulated > 0;
    now.accumulated = 0;
  });
}

Result<void> ModelTrainer::CheckModel(const std::string& model_id) const {
  const std::string current = state().model_id;
  if (model_id == current && !current.empty()) return {};
  return Error(ErrorCode::kNotFound,
               fmt::format("model_id: there is no model \"{}\"; {}", model_id,
                           current.empty() ? "create one first"
                                           : fmt::format("\"{}\" is in training", current)));
}

Result<std::unique_ptr<Engine>> ModelTrainer::FreshEngine(
    const std::filesystem::path& folder) const {
  HONE_ASSIGN_OR_RETURN(auto engine, OpenModel(folder, model_->engine_options));
  if (!Engine::HasState(folder)) return engine;
  return WithoutMoments(std::move(engine), model_->engine_options);
}

void ModelTrainer::Use(std::unique_ptr<Engine> engine) {
  touched_ = true;
  if (options_.use) options_.use(engine.get());
  model_->engine = std::move(engine);
}

Result<void> ModelTrainer::Create(const std::string& model_id, const CreateCall& call) {
  const TrainerState before = state();
  if (before.unsaved) {
    return Refused(
        fmt::format("model \"{}\" is in training, and its steps were not saved; save "
                    "its weights or unload it first",
                    before.model_id));
  }
  const std::filesystem::path& folder = model_->place.folder;
  const bool as_opened = call.rank == 0 && !touched_ && !Engine::HasState(folder);
  if (!as_opened) {
    HONE_ASSIGN_OR_RETURN(auto engine, FreshEngine(folder));
    if (call.rank > 0) {
      Model model = engine->model();
      engine.reset();
      const uint64_t seed = Rng(options_.seed).Split("adapters").Split(model_id).NextU64();
      HONE_RETURN_IF_ERROR(AddLora(AdaptersFor(call, seed), &model));
      engine = std::make_unique<Engine>(std::move(model), model_->engine_options);
    }
    Use(std::move(engine));
  }
  SetState([&](TrainerState& now) {
    now = {.model_id = model_id, .rank = call.rank};
    if (call.rank == 0) now.weights = opened_;
  });
  return {};
}

Result<void> ModelTrainer::Unload(const ModelCall& call) {
  HONE_RETURN_IF_ERROR(CheckModel(call.model_id));
  HONE_ASSIGN_OR_RETURN(auto engine, OpenModel(model_->place.folder, model_->engine_options));
  Use(std::move(engine));
  SetState([&](TrainerState& now) {
    now = {};
    now.weights = opened_;
  });
  return {};
}

Result<void> ModelTrainer::Load(const LoadCall& call) {
  HONE_RETURN_IF_ERROR(CheckModel(call.model_id));
  HONE_ASSIGN_OR_RETURN(const SavedPlace place, ParseSavedPath(call.path));
  HONE_ASSIGN_OR_RETURN(const SavedCard card, CardAt(call.path));
  const TrainerState before = state();
  if (card.base_model != model_->name || card.rank != before.rank) {
    return Refused(
        fmt::format("path: these weights are of \"{}\" with adapters of rank {}, but "
                    "the model is \"{}\" with rank {}",
                    card.base_model, card.rank, model_->name, before.rank));
  }
  const std::filesystem::path folder = place.In(options_.save_to);
  HONE_ASSIGN_OR_RETURN(auto engine, call.optimizer ? OpenModel(folder, model_->engine_options)
                                                    : FreshEngine(folder));
  Use(std::move(engine));
  SetState([&](TrainerState& now) {
    now.steps = call.optimizer ? card.steps : 0;
    ++now.version;
    now.accumulated = 0;
    now.lost = now.unsaved = false;
    now.weights = card.weights;
  });
  return {};
}

Result<double> ModelTrainer::Step(const StepCall& call) {
  HONE_RETURN_IF_ERROR(CheckModel(call.model_id));
  const TrainerState before = state();
  if (before.lost) {
    SetState([](TrainerState& now) { now.lost = false; });
    return Error(ErrorCode::kUnavailable,
                 "the gradient was lost when memory ran out, and nothing was changed; send the "
                 "forward_backward calls of this step again, in smaller parts");
  }
  if (before.accumulated == 0) {
    return Refused("there is no gradient to step by; call forward_backward first");
  }
  const double norm = model_->engine->Step(call.optimizer);
  touched_ = true;
  const bool changed = std::isfinite(norm);
  SetState([&](TrainerState& now) {
    now.accumulated = 0;
    if (!changed) return;
    ++now.steps;
    ++now.version;
    now.unsaved = true;
    now.weights.clear();
  });
  if (changed) return norm;
  return Refused("the gradient is no number; it was forgotten, and the weights are as they were");
}

Result<ForwardOutcome> ModelTrainer::Forward(const ForwardCall& call) {
  HONE_RETURN_IF_ERROR(CheckModel(call.model_id));
  const Error no_memory(ErrorCode::kUnavailable,
                        "memory ran out; send fewer or shorter sequences at a time");
  if (call.backward && state().lost) {
    return Error(ErrorCode::kUnavailable,
                 "an earlier gradient of this step was lost when memory ran out; optim_step says "
                 "so once, and then begin the step anew");
  }
  TokenLossReport report;
  const auto forget = [&] {
    if (call.backward) LoseGradient();
  };
  try {
    report = call.backward ? AccumulateTokenLoss(call.loss, call.data, model_->engine.get())
                           : TokenLossOf(call.loss, call.data, model_->engine.get());
  } catch (const std::bad_alloc&) {
    forget();
    return no_memory;
  } catch (const DeviceError& error) {
    if (error.kind() != DeviceError::Kind::kFull) throw;
    forget();
    return no_memory;
  }
  if (call.backward) {
    touched_ = true;
    SetState([&](TrainerState& now) { now.accumulated += std::ssize(call.data); });
  }
  ForwardOutcome outcome;
  outcome.logprobs = std::move(report.logprobs);
  outcome.metrics = {{"loss:sum", report.loss}, {"tokens:sum", static_cast<double>(report.tokens)}};
  if (call.loss.HasRatio())
    outcome.metrics.emplace_back("ratio_one:sum", static_cast<double>(report.ratio_one));
  return outcome;
}

Result<std::string> ModelTrainer::Save(const SaveCall& call) {
  HONE_RETURN_IF_ERROR(CheckModel(call.model_id));
  const TrainerState before = state();
  if (!call.name) return SamplerName(before.model_id, before.version);
  if (options_.save_to.empty()) {
    return Refused("this server saves nothing; start it with --save-to FOLDER");
  }
  HONE_RETURN_IF_ERROR(CheckSavedName(*call.name));
  const SavedPlace place{call.model_id, call.for_sampler, *call.name};
  const std::filesystem::path folder = place.In(options_.save_to);
  std::error_code failed;
  if (!call.overwrite && std::filesystem::exists(folder, failed)) {
    return Refused(fmt::format("path: {} is there already; choose another name, or overwrite it",
                               place.Path()));
  }
  std::filesystem::create_directories(folder.parent_path(), failed);
  if (failed) {
    return Error(ErrorCode::kIo, fmt::format("cannot make {}: {}", folder.parent_path().string(),
                                             failed.message()));
  }
  const SavedCard card{.base_model = model_->name,
                       .rank = before.rank,
                       .steps = before.steps,
                       .version = before.version,
                       .weights = Weights()};
  // States lie between steps: what was accumulated waits aside.
  Result<void> saved;
  try {
    Gradients gradients;
    if (before.accumulated > 0) gradients = model_->engine->TakeGradients();
    saved = SaveServedModel(*model_, folder, {{kSavedCardFile, card.ToText()}});
    if (before.accumulated > 0) model_->engine->PutGradients(std::move(gradients));
  } catch (...) {
    LoseGradient();
    throw;
  }
  HONE_RETURN_IF_ERROR(saved);
  if (!call.for_sampler) SetState([](TrainerState& now) { now.unsaved = false; });
  return place.Path();
}

std::string ModelTrainer::Weights() {
  std::string weights = state().weights;
  if (!weights.empty()) return weights;
  weights = model_->engine->WeightsHash();
  SetState([&](TrainerState& now) { now.weights = weights; });
  return weights;
}

std::vector<float> ModelTrainer::PromptLogprobs(const std::vector<TokenId>& prompt) {
  const std::vector<Tree> tree = {ChainOf(prompt)};
  return model_->engine->LogProbs(tree)[0][0].logprobs;
}

Result<std::string> ModelTrainer::SamplerOf(const SamplerChoice& choice) const {
  if (choice.session) return *choice.session;
  if (choice.base_model) {
    if (*choice.base_model == model_->name) return std::string(kBaseSampler);
    return Error(ErrorCode::kNotFound,
                 fmt::format("base_model: the model \"{}\" is not served here; \"{}\" is",
                             *choice.base_model, model_->name));
  }
  HONE_ASSIGN_OR_RETURN(const SavedPlace place, ParseSavedPath(*choice.model_path));
  HONE_ASSIGN_OR_RETURN(const SavedCard card, CardAt(*choice.model_path));
  // Weights that were loaded have a version of their own, and are still those.
  const TrainerState now = state();
  const bool loaded = !now.model_id.empty() && card.weights == now.weights;
  return loaded ? SamplerName(now.model_id, now.version)
                : SamplerName(place.model_id, card.version);
}

Result<void> ModelTrainer::CheckSampler(const std::string& sampler) const {
  const TrainerState now = state();
  if (sampler == kBaseSampler && now.version == 0) return {};
  const std::string current = SamplerName(now.model_id, now.version);
  if (!now.model_id.empty() && sampler == current) return {};
  return Refused(
      now.model_id.empty()
          ? fmt::format("sampler \"{}\" has no weights here; only the served model is there, as a "
                        "base_model",
                        sampler)
          : fmt::format("sampler \"{}\" has other weights than those in training, and this server "
                        "keeps one set; \"{}\" is there (save_weights_for_sampler)",
                        sampler, current));
}

Result<SavedCard> ModelTrainer::CardAt(const std::string& path) const {
  HONE_ASSIGN_OR_RETURN(const SavedPlace place, ParseSavedPath(path));
  if (options_.save_to.empty()) {
    return Error(ErrorCode::kNotFound, "nothing was saved; start the server with --save-to FOLDER");
  }
  const Result<SavedCard> card = ReadSavedCard(place.In(options_.save_to));
  if (card.ok()) return card;
  return Error(ErrorCode::kNotFound,
               fmt::format("path: there is nothing at {}: {}", path, card.error().message()));
}

}  // namespace hone
