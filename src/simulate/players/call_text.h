#pragma once

#include <string>
#include <vector>

#include "simulate/journaled_calls.h"
#include "simulate/players/player.h"
#include "text/tokenizer.h"

namespace hone {

// How the learned simulator reads and writes calls:
//
//   <|known|>get_order {"order_id":"7"}<|ok|>{"address":"Rome"}
//   <|write|>move_order {"address":"Oslo","order_id":"7"}<|ok|>{"ok":true}
//   <|call|>get_order {"order_id":"7"}  and the model goes on  <|ok|>{"address":"Oslo"}<|end|>
//
// (without line breaks). What tools said is never read as a marker.

// Words, digits and signs are tokens of their own, so that a name is the same wherever it stands.
inline constexpr std::string_view kCallSplit = R"(\p{N}|\p{L}+|[^\s\p{L}\p{N}]+|\s+)";

// The tokenizer of a set of calls.
Result<Tokenizer> TrainCallTokenizer(const JournaledCalls& recorded, int32_t vocabulary);

// A call up to where the answer begins.
std::vector<TokenId> CallTokens(const Tokenizer& tokenizer, const std::string& tool,
                                const Json& arguments,
                                const std::vector<Sessions::EarlierWrite>& writes,
                                const std::vector<KnownResult>& known);
// The answer, its end included.
std::vector<TokenId> AnswerTokens(const Tokenizer& tokenizer, const PlayedResult& answer);
// And back, from tokens that need not make sense.
PlayedResult AnswerOfTokens(const Tokenizer& tokenizer, const std::vector<TokenId>& tokens);
TokenId EndToken(const Tokenizer& tokenizer);

}  // namespace hone
