#include "simulate/models/checkpoint.h"

#include <algorithm>

#include <fmt/format.h>

#include "simulate/models/batched_engine.h"
#include "simulate/models/language_model.h"
#include "text/dialect.h"
#include "text/template_dialect.h"

namespace hone {
namespace {

class CheckpointToolkit final : public Toolkit {
 public:
  CheckpointToolkit(std::unique_ptr<Engine> engine, Tokenizer tokenizer,
                    std::unique_ptr<Dialect> dialect)
      : engine_(std::move(engine)),
        tokenizer_(std::move(tokenizer)),
        dialect_(std::move(dialect)) {}

  const std::vector<ToolSpec>& tools() const override { return specs_; }
  Sharing sharing() const override { return Sharing::kNothing; }
  Result<std::unique_ptr<Session>> Open(uint64_t) override { return std::unique_ptr<Session>(); }

  ToolReply Call(std::string_view, const Json& arguments, Session*, const CallLimits&) override {
    const CompletionRequest asked = CompletionRequestOf(arguments);
    Conversation conversation = ConversationOf(asked.messages);
    conversation.add_generation_prompt = true;
    const Result<std::vector<Piece>> pieces = dialect_->Render(conversation);
    if (!pieces.ok()) return Unavailable(pieces.error().message(), Blame::kInfrastructure);
    SampleRequest request;
    request.prompt = EncodePieces(tokenizer_, *pieces);
    if (const Result<void> fits = engine_.engine().CheckTokens(request.prompt); !fits.ok()) {
      return Unavailable(fits.error().message(), Blame::kInfrastructure);
    }
    const auto prompt_tokens = static_cast<int64_t>(request.prompt.size());
    request.max_new = asked.max_tokens;
    request.sampling.temperature =
        asked.temperature < 1e-4 ? 0.0f : static_cast<float>(asked.temperature);
    request.rng = Rng(asked.seed).Split("completion");
    request.stop = [this](std::span<const TokenId> tokens) { return StopAt(tokens).has_value(); };
    Result<SampleResult> drawn = engine_.Sample(std::move(request));
    if (!drawn.ok()) return Unavailable(drawn.error().message(), Blame::kInfrastructure);
    const auto completion_tokens = static_cast<int64_t>(drawn->tokens.size());
    std::string text = tokenizer_.Decode(drawn->tokens);
    if (const std::optional<size_t> stop = StopAt(drawn->tokens)) text.resize(*stop);
    return Answered(
        CompleteAnswer(text, !drawn->stopped, TokenUsage{prompt_tokens, completion_tokens}));
  }

 private:
  // Where in the text the turn's end begins.
  std::optional<size_t> StopAt(std::span<const TokenId> tokens) const {
    const std::string text = tokenizer_.Decode(tokens);
    std::optional<size_t> first;
    for (const std::string& stop : dialect_->traits().stops) {
      const size_t at = text.find(stop);
      if (at != std::string::npos) first = std::min(first.value_or(at), at);
    }
    return first;
  }

  BatchedEngine engine_;
  const Tokenizer tokenizer_;
  const std::unique_ptr<Dialect> dialect_;
  const std::vector<ToolSpec> specs_ = {CompleteSpec()};
};

}  // namespace

Result<std::shared_ptr<Toolkit>> NewCheckpointToolkit(const CheckpointOptions& options) {
  HONE_ASSIGN_OR_RETURN(std::unique_ptr<Dialect> dialect,
                        NewDialect(DialectIn(options.dialect, options.folder.string())));
  HONE_ASSIGN_OR_RETURN(
      std::unique_ptr<Engine> engine,
      Engine::Open(options.folder, {.threads = options.threads, .device = options.device}));
  HONE_ASSIGN_OR_RETURN(Tokenizer tokenizer, Tokenizer::Load(options.folder));
  if (tokenizer.vocab_size() > engine->config().vocab) {
    return Error(
        ErrorCode::kInvalidArgument,
        fmt::format("{}: the tokenizer has {} tokens, the model only {}", options.folder.string(),
                    tokenizer.vocab_size(), engine->config().vocab));
  }
  return std::shared_ptr<Toolkit>(std::make_shared<CheckpointToolkit>(
      std::move(engine), std::move(tokenizer), std::move(dialect)));
}

}  // namespace hone
