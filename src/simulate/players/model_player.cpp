#include "simulate/players/model_player.h"

#include <fmt/format.h>

#include "base/strings.h"
#include "simulate/result_check.h"

namespace hone {
namespace {

class ModelPlayer final : public Player {
 public:
  ModelPlayer(std::shared_ptr<LanguageModel> model, std::shared_ptr<const JournaledCalls> recorded,
              ModelPlayerOptions options)
      : model_(std::move(model)),
        recorded_(std::move(recorded)),
        options_(options),
        version_("model " + ContentHash(Said())) {}

  std::string version() const override { return version_; }
  bool minds_state() const override { return true; }

  Result<PlayedResult> Play(const SimulatedCall& call) override {
    Rng rng = call.rng;
    const Completion completion =
        model_->Complete({.messages = PlayersPrompt(call, ExamplesFor(call), options_.prompt),
                          .temperature = options_.temperature,
                          .max_tokens = options_.max_tokens,
                          .seed = rng.NextU64(),
                          .json = WantsObject(*call.spec)});
    if (completion.status == CompletionStatus::kBudget) {
      return Error(ErrorCode::kFull, "the language model's budget: " + completion.problem);
    }
    if (completion.status != CompletionStatus::kOk) {
      return Error(ErrorCode::kUnavailable, "the language model: " + completion.problem);
    }
    if (completion.cut) return PlayedResult{.problem = "it was too long"};
    return ReadPlayedText(completion.text, *call.spec);
  }

 private:
  Json Said() const {
    Json said = Json::Of({{"prompt", kPromptVersion},
                          {"model", model_->name()},
                          {"temperature", options_.temperature},
                          {"max_tokens", options_.max_tokens},
                          {"examples", options_.examples},
                          {"example_bytes", int64_t{kMostExampleBytes}},
                          {"journal", recorded_ ? recorded_->hash : ""}});
    if (options_.prompt == PromptStyle::kBrief) said.Set("style", "brief");
    return said;
  }

  // Endpoints' JSON mode gives objects only.
  static bool WantsObject(const ToolSpec& spec) {
    const Json* type = spec.output ? spec.output->Find("type") : nullptr;
    return type != nullptr && *type == Json("object");
  }

  std::vector<const RecordedCall*> ExamplesFor(const SimulatedCall& call) const {
    if (recorded_ == nullptr || options_.examples == 0) return {};
    std::vector<const RecordedCall*> examples = NearestCalls(
        *recorded_, call.spec->name, call.arguments, static_cast<size_t>(options_.examples));
    std::erase_if(examples, [](const RecordedCall* example) { return !IsShown(*example); });
    return examples;
  }

  const std::shared_ptr<LanguageModel> model_;
  const std::shared_ptr<const JournaledCalls> recorded_;
  const ModelPlayerOptions options_;
  const std::string version_;
};

// The text inside the first code fence, or all of it.
std::string_view WithoutFence(std::string_view text) {
  const size_t fence = text.find("```");
  if (fence == std::string_view::npos) return Trim(text);
  const size_t begin = text.find('\n', fence);
  if (begin == std::string_view::npos) return Trim(text);
  const size_t end = text.find("```", begin);
  return Trim(text.substr(begin, end == std::string_view::npos ? end : end - begin));
}

// The JSON value that the text is, or the first object or array in it.
std::optional<Json> FindJson(std::string_view text) {
  if (Result<Json> whole = ParseJson(text); whole.ok()) return *std::move(whole);
  for (size_t at = text.find_first_of("{["); at != std::string_view::npos;
       at = text.find_first_of("{[", at + 1)) {
    JsonPrefix prefix = ParseJsonPrefix(text.substr(at));
    if (prefix.value) return std::move(prefix.value);
    if (prefix.cut) return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace

PlayedResult ReadPlayedText(const std::string& text, const ToolSpec& spec) {
  AnswerChecker checker;
  const std::string_view inner = WithoutFence(text);
  if (inner.empty()) return {.problem = "it was empty"};
  const std::optional<Json> value = FindJson(inner);
  if (value) {
    const std::string content = value->is_string() ? value->AsString() : DumpJson(*value);
    const bool fits = spec.output && !checker.Problem(spec, content);
    if (value->Find("error") != nullptr && !fits) return {CallStatus::kToolError, content, ""};
    return {CallStatus::kOk, content, ""};
  }
  const std::string plain(inner);
  if (!spec.output || !checker.Problem(spec, plain)) return {CallStatus::kOk, plain, ""};
  return {.problem = "it is not JSON"};
}

std::unique_ptr<Player> NewModelPlayer(std::shared_ptr<LanguageModel> model,
                                       std::shared_ptr<const JournaledCalls> recorded,
                                       ModelPlayerOptions options) {
  return std::make_unique<ModelPlayer>(std::move(model), std::move(recorded), options);
}

}  // namespace hone
