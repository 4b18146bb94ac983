#include "simulate/models/model_options.h"

#include <fmt/format.h>

#include "engine/engine.h"
#include "engine/lora.h"
#include "simulate/models/checkpoint.h"

namespace hone {
namespace {

using std::chrono::milliseconds;

void ReadMilliseconds(RecipeTable* table, const char* key, milliseconds* value,
                      std::string_view comment) {
  int64_t count = value->count();
  table->Read(key, &count, comment, AtLeast(1));
  *value = milliseconds(count);
}

void ReadLanguageModel(RecipeTable* table, LanguageModelOptions* options) {
  ReadMilliseconds(table, "deadline_ms", &options->limits.deadline,
                   "of a completion, retries included");
  ReadMilliseconds(table, "attempt_ms", &options->limits.attempt, "of one attempt at it");
  ReadMilliseconds(table, "backoff_ms", &options->limits.backoff, "before the first retry");
  table->Read("retries", &options->limits.retries, "after the first attempt", AtLeast(0));
  table->Read("concurrent", &options->limits.concurrent, "completions at a time", AtLeast(1));
  table->Read("per_second", &options->limits.per_second,
              "completions begun per second; 0: no limit", AtLeast(0));
  table->Read("prompt_price", &options->prompt_price, "per million tokens", AtLeast(0));
  table->Read("completion_price", &options->completion_price, "per million tokens", AtLeast(0));
  table->Read("max_money", &options->max_money, "0: no limit", AtLeast(0));
  table->Read("max_total_tokens", &options->max_tokens, "of prompts and completions; 0: no limit",
              AtLeast(0));
  table->Read("offline", &options->offline, "only what the journal of completions has");
}

}  // namespace

void ReadModelOptions(RecipeTable* table, const std::string& kind, ModelOptions* settings) {
  if (kind == "endpoint") {
    table->Read("url", &settings->endpoint.url, "such as http://127.0.0.1:8000/v1");
    table->Read("model", &settings->endpoint.model, "as the endpoint calls it");
    table->Read("key_variable", &settings->endpoint.key_variable,
                "the environment variable that holds the key");
    if (settings->endpoint.url.empty()) table->Problem("url", "an endpoint needs a url");
  } else {
    table->ReadPath("folder", &settings->folder, "of the model", PathUse::kPlace);
    table->Read("dialect", &settings->dialect, "of the model");
    std::string device(DeviceKindName(settings->device));
    table->ReadChoice("device", &device, {"auto", "cpu", "cuda"}, "where it computes");
    if (const Result<DeviceKind> k = ParseDeviceKind(device); k.ok()) settings->device = *k;
    if (settings->folder.empty()) table->Problem("folder", "a model needs its folder");
  }
  table->ReadPath("completions", &settings->completions, "a journal for completions",
                  PathUse::kPlace);
  ReadLanguageModel(table, &settings->language_model);
  if (settings->language_model.offline && settings->completions.empty()) {
    table->Problem("offline", "needs completions, the journal to take them from");
  }
}

Result<std::shared_ptr<LanguageModel>> OpenModel(const ModelOptions& settings,
                                                 const std::string& kind) {
  LanguageModelOptions options = settings.language_model;
  std::shared_ptr<Toolkit> toolkit;
  if (kind == "endpoint") {
    HONE_ASSIGN_OR_RETURN(toolkit, NewEndpointToolkit(settings.endpoint));
    options.name = fmt::format("{} at {}", settings.endpoint.model, settings.endpoint.url);
  } else {
    HONE_ASSIGN_OR_RETURN(toolkit, NewCheckpointToolkit({.folder = settings.folder,
                                                         .dialect = settings.dialect,
                                                         .device = settings.device}));
    HONE_ASSIGN_OR_RETURN(const Model model, LoadModelWithAdapters(settings.folder));
    options.name = "checkpoint " + Engine(model, {.threads = 1}).WeightsHash();
  }
  if (!settings.completions.empty()) {
    HONE_ASSIGN_OR_RETURN(std::unique_ptr<Journal> journal, Journal::Open(settings.completions));
    options.journal = std::move(journal);
  }
  HONE_ASSIGN_OR_RETURN(
      std::unique_ptr<LanguageModel> model,
      NewLanguageModel(std::move(toolkit), std::move(options), NewRealTimeline()));
  return std::shared_ptr<LanguageModel>(std::move(model));
}

}  // namespace hone
