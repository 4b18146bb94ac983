#include <algorithm>

#include "base/hash.h"
#include "simulate/models/batched_engine.h"
#include "simulate/players/call_text.h"
#include "simulate/players/learned_model.h"

namespace hone {
namespace {

class LearnedPlayer final : public Player {
 public:
  LearnedPlayer(LearnedModel model, LearnedPlayerOptions options)
      : tokenizer_(std::move(model.tokenizer)),
        effects_(options.effects ? std::move(model.effects) : WriteEffects()),
        rules_(options.effects ? std::move(model.rules) : ResultRules()),
        shown_(std::move(model.shown)),
        engine_(std::move(model.engine)),
        options_(options),
        version_("learned " + ContentHash(Json::Of({{"weights", engine_.engine().WeightsHash()},
                                                    {"tokenizer", Sha256Hex(tokenizer_->ToJson())},
                                                    {"effects", effects_.ToJson()},
                                                    {"rules", rules_.ToJson()},
                                                    {"shown", ShownJson(shown_)},
                                                    {"temperature", options.temperature},
                                                    {"min_p", options.min_p},
                                                    {"max_tokens", options.max_tokens}}))) {}

  std::string version() const override { return version_; }
  bool minds_state() const override { return true; }

  Result<PlayedResult> Play(const SimulatedCall& call) override {
    if (std::optional<PlayedResult> after = WorkedOut(call)) return *std::move(after);
    SampleRequest request;
    request.prompt =
        CallTokens(*tokenizer_, call.spec->name, call.arguments, call.writes, Readable(call));
    if (!engine_.engine().CheckTokens(request.prompt).ok()) {
      return PlayedResult{.problem = "the call is longer than the model can read"};
    }
    const CallFacts facts = FactsOf(call.spec->name, call.arguments, call.known);
    request.rng = call.rng;
    HONE_ASSIGN_OR_RETURN(const TokenId status, StatusToken(call, facts, request));
    request.prompt.push_back(status);
    request.max_new = options_.max_tokens;
    request.sampling = {.temperature = static_cast<float>(options_.temperature),
                        .min_p = static_cast<float>(options_.min_p)};
    request.stop_tokens = {EndToken(*tokenizer_)};
    HONE_ASSIGN_OR_RETURN(SampleResult drawn, engine_.Sample(std::move(request)));
    drawn.tokens.insert(drawn.tokens.begin(), status);
    PlayedResult answer =
        effects_.Echoed(call.spec->name, call.arguments, AnswerOfTokens(*tokenizer_, drawn.tokens));
    return rules_.PutRight(call.spec->name, facts, !call.writes.empty(), std::move(answer));
  }

 private:
  // A read after writes whose effects are known, from what it showed before them.
  std::optional<PlayedResult> WorkedOut(const SimulatedCall& call) const {
    if (call.writes.empty() || call.known.empty() || call.spec->effect != Effect::kReads) {
      return std::nullopt;
    }
    const KnownResult& before = call.known.back();
    if (before.tool != call.spec->name || before.arguments != call.arguments) return std::nullopt;
    return effects_.After(call.spec->name, before.answer, call.writes);
  }

  // What the model has learned to read of what is known.
  std::vector<KnownResult> Readable(const SimulatedCall& call) const {
    std::vector<KnownResult> readable;
    const auto shown = shown_.find(call.spec->name);
    if (shown == shown_.end()) return readable;
    for (const KnownResult& known : call.known) {
      const std::vector<std::string>& tools = shown->second;
      if (std::find(tools.begin(), tools.end(), known.tool) != tools.end()) {
        readable.push_back(known);
      }
    }
    return readable;
  }

  // Whether the call is refused: by rule, else what is likelier. Drawn by chance, it would differ
  // from the real tool's twice as often as it must where the model cannot know it.
  Result<TokenId> StatusToken(const SimulatedCall& call, const CallFacts& facts,
                              SampleRequest request) {
    if (const std::optional<CallStatus> status = rules_.StatusOf(call.spec->name, facts)) {
      return AnswerTokens(*tokenizer_, {.status = *status})[0];
    }
    request.max_new = 1;
    request.sampling = {.temperature = 0};
    HONE_ASSIGN_OR_RETURN(const SampleResult likelier, engine_.Sample(std::move(request)));
    return likelier.tokens[0];
  }

  const std::unique_ptr<Tokenizer> tokenizer_;
  const WriteEffects effects_;
  const ResultRules rules_;
  const std::map<std::string, std::vector<std::string>> shown_;
  BatchedEngine engine_;
  const LearnedPlayerOptions options_;
  const std::string version_;
};

}  // namespace

std::unique_ptr<Player> NewLearnedPlayer(LearnedModel model, LearnedPlayerOptions options) {
  return std::make_unique<LearnedPlayer>(std::move(model), options);
}

}  // namespace hone
