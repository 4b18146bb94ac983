#include "simulate/players/call_text.h"

#include "text/bpe_trainer.h"

namespace hone {
namespace {

constexpr std::string_view kCall = "<|call|>", kKnown = "<|known|>", kWrite = "<|write|>",
                           kOk = "<|ok|>", kError = "<|error|>", kEnd = "<|end|>";

std::string Question(const std::string& tool, const Json& arguments) {
  return tool + " " + DumpJson(arguments, JsonStyle::kCanonical);
}

TokenId Marker(const Tokenizer& tokenizer, std::string_view spelling) {
  const std::optional<TokenId> id = tokenizer.FindAdded(spelling);
  CHECK(id.has_value(), "the tokenizer of a learned simulator has its markers");
  return *id;
}

// Text that somebody else wrote.
void AppendLiteral(const Tokenizer& tokenizer, const std::string& text,
                   std::vector<TokenId>* tokens) {
  const ByteRange all{0, text.size()};
  const std::vector<TokenId> ids = tokenizer.Encode(text, {&all, 1});
  tokens->insert(tokens->end(), ids.begin(), ids.end());
}

void AppendAnswer(const Tokenizer& tokenizer, CallStatus status, const std::string& content,
                  std::vector<TokenId>* tokens) {
  tokens->push_back(Marker(tokenizer, status == CallStatus::kOk ? kOk : kError));
  AppendLiteral(tokenizer, content, tokens);
}

}  // namespace

Result<Tokenizer> TrainCallTokenizer(const JournaledCalls& recorded, int32_t vocabulary) {
  std::vector<std::string> texts;
  for (const RecordedCall& call : recorded.calls) {
    texts.push_back(Question(call.tool, call.arguments));
    texts.push_back(call.answer.content);
  }
  BpeTrainingOptions options{
      .vocab_size = vocabulary, .min_frequency = 4, .split = std::string(kCallSplit), .nfc = false};
  for (const std::string_view marker : {kCall, kKnown, kWrite, kOk, kError, kEnd}) {
    AddedToken token;
    token.content = marker;
    token.special = true;
    options.added.push_back(std::move(token));
  }
  return TrainBpe(texts, options);
}

std::vector<TokenId> CallTokens(const Tokenizer& tokenizer, const std::string& tool,
                                const Json& arguments,
                                const std::vector<Sessions::EarlierWrite>& writes,
                                const std::vector<KnownResult>& known) {
  std::vector<TokenId> tokens;
  for (const KnownResult& answer : known) {
    tokens.push_back(Marker(tokenizer, kKnown));
    AppendLiteral(tokenizer, Question(answer.tool, answer.arguments), &tokens);
    AppendAnswer(tokenizer, answer.answer.status, answer.answer.content, &tokens);
  }
  for (const Sessions::EarlierWrite& write : writes) {
    tokens.push_back(Marker(tokenizer, kWrite));
    AppendLiteral(tokenizer, Question(write.tool, write.arguments), &tokens);
    AppendAnswer(tokenizer, write.status, write.content, &tokens);
  }
  tokens.push_back(Marker(tokenizer, kCall));
  AppendLiteral(tokenizer, Question(tool, arguments), &tokens);
  return tokens;
}

std::vector<TokenId> AnswerTokens(const Tokenizer& tokenizer, const PlayedResult& answer) {
  std::vector<TokenId> tokens;
  AppendAnswer(tokenizer, answer.status, answer.content, &tokens);
  tokens.push_back(EndToken(tokenizer));
  return tokens;
}

PlayedResult AnswerOfTokens(const Tokenizer& tokenizer, const std::vector<TokenId>& tokens) {
  if (tokens.size() < 2 || tokens.back() != EndToken(tokenizer))
    return {.problem = "it has no end"};
  const bool ok = tokens[0] == Marker(tokenizer, kOk);
  if (!ok && tokens[0] != Marker(tokenizer, kError)) return {.problem = "it has no status"};
  std::vector<TokenId> content(tokens.begin() + 1, tokens.end() - 1);
  for (const TokenId id : content) {
    if (!tokenizer.IsToken(id) || tokenizer.IsSpecial(id)) return {.problem = "a marker is inside"};
  }
  return {ok ? CallStatus::kOk : CallStatus::kToolError, tokenizer.Decode(content), ""};
}

TokenId EndToken(const Tokenizer& tokenizer) { return Marker(tokenizer, kEnd); }

}  // namespace hone
