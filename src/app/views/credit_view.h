#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "app/terminal.h"
#include "base/json.h"
#include "credit/methods.h"
#include "record/score.h"
#include "text/tokenizer.h"

// Who earned what, token by token: for a terminal, as a page, and as JSON.

namespace hone {

struct MethodCredit {
  std::string method;  // as it was asked for
  Credit credit;       // with layers
};

struct CreditViewOptions {
  int leaf = -1;  // -1: all of them
};

// Adds "layers" and "notes" to an object.
void AddExplanation(const Credit& credit, Json* json);

// Each leaf as a table: a row per run of tokens that have the same credit in every channel of every
// method, a column per method and channel. Without a tokenizer tokens are shown as ids.
std::string CreditView(const ScoredTree& record, const std::vector<MethodCredit>& credits,
                       const Tokenizer* tokenizer, const Terminal& terminal,
                       const CreditViewOptions& options = {});

// The same as a page that needs nothing else: the methods side by side, tokens coloured by their
// credit, the channels below.
std::string CreditPage(const ScoredTree& record, const std::vector<MethodCredit>& credits,
                       const Tokenizer* tokenizer, const CreditViewOptions& options = {});

// A part of such a page, for others: the tokens of one leaf's path, those of the policy coloured by
// `values`, which are one per token that it wrote; `largest` has the strongest colour. kTokenStyle
// is the CSS that it needs.
inline constexpr std::string_view kTokenStyle = R"(
.tokens { font: 13px/1.9 ui-monospace, monospace; white-space: pre-wrap; word-break: break-word; }
.tokens span { border-radius: 3px; padding: 1px 0; } .other { color: var(--dim); }
)";
std::string CreditTokens(const ScoredTree& record, int32_t leaf, const std::vector<float>& values,
                         float largest, const Tokenizer* tokenizer);
float LargestCredit(const std::vector<Advantages>& advantages);

// The list of methods as a table.
std::string MethodsView(const std::vector<MethodSummary>& methods, const Terminal& terminal);
Json MethodsJson(const std::vector<MethodSummary>& methods);

}  // namespace hone
