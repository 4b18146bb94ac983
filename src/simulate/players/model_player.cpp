#include "simulate/players/model_player.h"

#include <fmt/format.h>

#include "base/strings.h"
#include "simulate/result_check.h"

namespace hone {
namespace {

// Part of the version: to be raised with every change of what the model is shown.
constexpr int kPromptVersion = 2;

constexpr std::string_view kPlayersPart =
    "You stand in for a tool that a program calls. You get the tool's description and one call of "
    "it, and you write what the tool would return, and nothing else.\n"
    "- Write one JSON value that fits the output schema. No explanation, no code fence.\n"
    "- If the real tool would refuse the call (something does not exist, a value makes no sense, "
    "the "
    "state forbids it), write {\"error\": \"a short reason\"}.\n"
    "- Make up plausible, specific values where you cannot know them; never write placeholders.\n"
    "- Agree with everything below that was returned or changed before.";

std::string Shown(const PlayedResult& answer) {
  if (answer.status == CallStatus::kOk) return answer.content;
  const Json value = ValueOf(answer.content);
  if (value.Find("error") != nullptr) return answer.content;
  return DumpJson(Json::Of({{"error", answer.content}}));
}

std::string Line(const std::string& tool, const Json& arguments, const std::string& answer) {
  return fmt::format("{}({}) -> {}\n", tool, DumpJson(arguments), answer);
}

std::string Prompt(const SimulatedCall& call, const std::vector<const RecordedCall*>& examples) {
  const ToolSpec& spec = *call.spec;
  std::string text = fmt::format("Tool: {}\nDescription: {}\nParameters: {}\nOutput schema: {}\n",
                                 spec.name, spec.description, DumpJson(spec.parameters),
                                 spec.output ? DumpJson(*spec.output) : "not given");
  if (!examples.empty()) {
    text += "\nCalls of this tool that were recorded, in other circumstances:\n";
    for (const RecordedCall* example : examples) {
      text += Line(example->tool, example->arguments, Shown(example->answer));
    }
  }
  // Of the call itself it is known what it returned before the changes, of all else what it is now.
  std::string before, now;
  for (const KnownResult& known : call.known) {
    const bool itself = known.tool == spec.name && known.arguments == call.arguments;
    (itself ? before : now) += Line(known.tool, known.arguments, Shown(known.answer));
  }
  if (!before.empty()) text += "\nWhat this call returned at first:\n" + before;
  if (!call.writes.empty()) {
    text += before.empty() ? "\nWhat was changed, in this order:\n"
                           : "\nWhat was changed since then, in this order:\n";
    for (const Sessions::EarlierWrite& write : call.writes) {
      text += Line(write.tool, write.arguments, write.content);
    }
  }
  if (!now.empty()) {
    text += (call.writes.empty() ? "\nWhat other calls return:\n"
                                 : "\nWhat other calls return now, after these changes:\n") +
            now;
  }
  text += fmt::format("\nThe call: {}({})\n", spec.name, DumpJson(call.arguments));
  if (!call.problem.empty()) {
    text +=
        fmt::format("\nYour last answer was not usable:\n{}\nWrite a better one.\n", call.problem);
  }
  return text + "\nWhat it returns:";
}

class ModelPlayer final : public Player {
 public:
  ModelPlayer(std::shared_ptr<LanguageModel> model, std::shared_ptr<const JournaledCalls> recorded,
              ModelPlayerOptions options)
      : model_(std::move(model)),
        recorded_(std::move(recorded)),
        options_(options),
        version_("model " +
                 ContentHash(Json::Of({{"prompt", kPromptVersion},
                                       {"model", model_->name()},
                                       {"temperature", options.temperature},
                                       {"max_tokens", options.max_tokens},
                                       {"examples", options.examples},
                                       {"example_bytes", options.max_example_bytes},
                                       {"journal", recorded_ ? recorded_->hash : ""}}))) {}

  std::string version() const override { return version_; }
  bool minds_state() const override { return true; }

  Result<PlayedResult> Play(const SimulatedCall& call) override {
    Rng rng = call.rng;
    const Completion completion =
        model_->Complete({.messages = {{"system", std::string(kPlayersPart)},
                                       {"user", Prompt(call, ExamplesFor(call))}},
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
  // Endpoints' JSON mode gives objects only.
  static bool WantsObject(const ToolSpec& spec) {
    const Json* type = spec.output ? spec.output->Find("type") : nullptr;
    return type != nullptr && *type == Json("object");
  }

  std::vector<const RecordedCall*> ExamplesFor(const SimulatedCall& call) const {
    if (recorded_ == nullptr || options_.examples == 0) return {};
    std::vector<const RecordedCall*> examples = NearestCalls(
        *recorded_, call.spec->name, call.arguments, static_cast<size_t>(options_.examples));
    std::erase_if(examples, [&](const RecordedCall* example) {
      return static_cast<int64_t>(example->answer.content.size()) > options_.max_example_bytes;
    });
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
