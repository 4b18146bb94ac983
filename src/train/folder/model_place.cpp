#include "train/folder/model_place.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/file.h"
#include "base/strings.h"
#include "train/folder/checksums.h"
#include "train/folder/run_folder.h"

namespace hone {
namespace {

// The run that a checkpoint lies in: RUN/checkpoints/step-N.
std::filesystem::path RunOf(const std::filesystem::path& checkpoint) {
  std::error_code failed;
  const std::filesystem::path whole = std::filesystem::canonical(checkpoint, failed);
  if (failed || whole.parent_path().filename() != "checkpoints") return {};
  const std::filesystem::path run = whole.parent_path().parent_path();
  return Exists(run / "recipe.toml") ? run : std::filesystem::path();
}

Result<int64_t> StepOf(const std::filesystem::path& run, const std::string& which) {
  const std::vector<int64_t> steps = CheckpointsIn(run);
  if (steps.empty()) {
    return Error(ErrorCode::kNotFound,
                 fmt::format("the run {} has no checkpoint yet", run.string()));
  }
  if (which == "last") return steps.back();
  if (which == "best") {
    HONE_ASSIGN_OR_RETURN(const TrainingState state,
                          ReadTrainingState(CheckpointIn(run, steps.back())));
    if (!state.best) {
      return Error(ErrorCode::kNotFound,
                   fmt::format("nobody knows the best checkpoint of {}: it was not evaluated on "
                               "dev; take the last one",
                               run.string()));
    }
    return state.best_step;
  }
  const auto found = std::find_if(steps.begin(), steps.end(),
                                  [&](int64_t step) { return std::to_string(step) == which; });
  if (found == steps.end()) {
    return Error(ErrorCode::kNotFound,
                 fmt::format("the run {} has no checkpoint \"{}\"; there are last, best, {}",
                             run.string(), which, fmt::join(steps, ", ")));
  }
  return *found;
}

// "models/a/" ends in the name "a", too.
std::filesystem::path WithoutSlash(const std::filesystem::path& folder) {
  return folder.has_filename() ? folder : folder.parent_path();
}

}  // namespace

std::span<const std::string_view> ModelsKnownByName() {
  static constexpr std::array<std::string_view, 4> kNames = {
      "MiniMind2-Small", "TinyLlama-1.1B-Chat-v1.0", "stories15M", "all-MiniLM-L6-v2"};
  return kNames;
}

std::string HowToGetModel(const std::filesystem::path& folder) {
  const std::filesystem::path place = WithoutSlash(folder);
  const std::string name = place.filename().string();
  if (!IsOneOf(name, ModelsKnownByName())) {
    return fmt::format(
        "get a model (hf download Qwen/Qwen2.5-0.5B-Instruct --local-dir {}) or "
        "make a small one (hone model new --help)",
        folder.string());
  }
  // Without --to it lies in models/NAME, where recipes look for it.
  const bool usual = place.parent_path().filename() == "models";
  return fmt::format("get the model: hone model get {}{}", name,
                     usual ? "" : " --to " + place.string());
}

Result<ModelPlace> FindModel(const std::filesystem::path& named, const std::string& which) {
  if (!Exists(named)) {
    const bool known = IsOneOf(WithoutSlash(named).filename().string(), ModelsKnownByName());
    return Error(ErrorCode::kNotFound,
                 fmt::format("there is no folder \"{}\"; {}", named.string(),
                             known ? HowToGetModel(named)
                                   : "name a run (runs/NAME), one of its checkpoints, or a Hugging "
                                     "Face folder"));
  }
  if (named.extension() == ".gguf") {
    return Error(
        ErrorCode::kUnsupported,
        fmt::format("\"{}\" is a GGUF file; make a folder of it: hone model convert {} OUT",
                    named.string(), named.string()));
  }
  if (Exists(named / "config.json")) return ModelPlace{named, RunOf(named)};
  if (Exists(named / "recipe.toml")) {
    HONE_ASSIGN_OR_RETURN(const int64_t step, StepOf(named, which));
    return ModelPlace{CheckpointIn(named, step), named};
  }
  return Error(ErrorCode::kNotFound,
               fmt::format("\"{}\" is neither a run nor a model: it has neither recipe.toml nor "
                           "config.json",
                           named.string()));
}

std::string TemplateFolder(const ModelPlace& place, const std::string& began_with) {
  for (const char* name : {"chat_template.jinja", "tokenizer_config.json", "chat_template.json"}) {
    if (Exists(place.folder / name)) return place.folder.string();
  }
  return began_with.empty() ? place.folder.string() : began_with;
}

Result<std::unique_ptr<Engine>> OpenModel(const std::filesystem::path& folder,
                                          Engine::Options options) {
  if (const Result<void> sound = VerifyChecksums(folder, GoneFiles::kAreFine); !sound.ok()) {
    return Error(
        sound.error().code(),
        sound.error().message() + "; if you changed it yourself, remove checksums.json beside it");
  }
  if (Engine::HasState(folder)) return Engine::Load(folder, std::move(options));
  return Engine::Open(folder, std::move(options));
}

}  // namespace hone
