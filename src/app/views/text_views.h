#pragma once

#include <span>
#include <string>
#include <string_view>

#include "app/terminal.h"
#include "base/json.h"
#include "record/store.h"
#include "text/dialect.h"
#include "text/tokenizer.h"

// What the commands print, as text for people and as JSON for programs.

namespace hone {

// A parsed turn for `hone pipe parse` and `hone parse --json` (docs/pipe.md).
Json ParsedTurnJson(std::string_view turn, const ParsedTurn& parsed, const Tokenizer* tokenizer,
                    std::span<const TokenId> ids);

// Tokens one after the other in alternating shades, added tokens marked, ids below.
std::string TokensView(const Tokenizer& tokenizer, std::span<const TokenId> ids,
                       const Terminal& terminal);

// Rendered pieces with their authors.
std::string PiecesView(const std::vector<Piece>& pieces, const Terminal& terminal);

std::string ParsedTurnView(std::string_view turn, const ParsedTurn& parsed,
                           const Terminal& terminal);

// The trees of a store as a table.
std::string TreesView(const std::vector<RunStore::TreeSummary>& trees, const Terminal& terminal);

// The style of a token with this credit, where the largest is `largest`: green for credit, red for
// blame, the stronger the larger, in six steps of a 256-colour terminal; empty for none.
std::string CreditCodes(float credit, float largest);

struct TreeViewOptions {
  int lines_per_node = 24;  // longer texts are cut; 0: all of it
};

// A whole tree: who wrote what, calls, results, endings, rewards and, where there are advantages,
// the credit of every token (as colour; without colour as numbers where it changes). Without a
// tokenizer tokens are shown as ids.
std::string TreeView(const ScoredTree& record, const Tokenizer* tokenizer, const Terminal& terminal,
                     const TreeViewOptions& options = {});

}  // namespace hone
