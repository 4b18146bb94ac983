#pragma once

#include <string>
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

// The list of methods as a table.
std::string MethodsView(const std::vector<MethodSummary>& methods, const Terminal& terminal);
Json MethodsJson(const std::vector<MethodSummary>& methods);

}  // namespace hone
