#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "text/dialect.h"
#include "text/grammar/grammar_tokens.h"

namespace hone {

// What a client wants a turn to be.
struct TurnForm {
  std::vector<Json> calls;  // tools, one of which is called; empty: none is
  bool must_call = false;   // else it may answer as well
  // What an answer must be: a JSON schema, or null for any JSON object; absent: any text.
  std::optional<Json> answer;

  bool any() const { return !must_call && !answer; }  // nothing is wanted
};

// The turns of a dialect that have this form: one call with arguments that fit the tool's
// parameters (as far as JsonTexts knows them), or an answer that is JSON. How the dialect spells
// them is read off turns that it renders itself. Thoughts may come first where the model has
// a token that begins them; `thinking` says that the prompt has opened one.
//
// kUnsupported where the dialect writes calls or answers otherwise than around JSON, and for
// schemas that cannot be kept to. Errors begin with the parameter that asks for it.
Result<std::shared_ptr<const TurnGrammar>> GrammarOf(const TurnForm& form, const Dialect& dialect,
                                                     const Tokenizer& tokenizer, bool thinking);

}  // namespace hone
