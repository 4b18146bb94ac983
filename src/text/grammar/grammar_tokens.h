#pragma once

#include <map>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "text/grammar/grammar.h"
#include "text/tokenizer.h"

// Which tokens a grammar of bytes lets be drawn.

namespace hone {

// The tokens of a tokenizer in the order of their bytes. Immutable and thread-safe; the tokenizer
// must outlive it.
class TokensByText {
 public:
  explicit TokensByText(const Tokenizer* tokenizer);

  // The tokens with which a text goes on from there, ascending. A marker (an added token) stands
  // only where a literal of the grammar has it, and there it is not spelled out: letters that look
  // like a mark are letters.
  std::vector<TokenId> GoOn(GrammarMatcher* matcher, GrammarMatcher::State state) const;

  const Tokenizer& tokenizer() const { return *tokenizer_; }

 private:
  using Entry = std::pair<std::string_view, TokenId>;
  // Of those in a range that agree in their first `depth` bytes.
  void Collect(std::span<const Entry> range, size_t depth, GrammarMatcher* matcher,
               GrammarMatcher::State state, std::vector<TokenId>* found) const;

  const Tokenizer* tokenizer_;
  std::vector<Entry> letters_;  // tokens that were not added, by their bytes
  std::vector<Entry> marks_;    // added ones
};

// What a turn may be: a text of a grammar.
struct TurnGrammar {
  Grammar grammar;
  Grammar::Rule start = 0;
  // Tokens that end a turn, not empty, ascending: for a text that is over, or that no token goes on
  // with.
  std::vector<TokenId> ends;
};

// A turn while it is drawn. For one turn and one thread; `tokens` must outlive it.
class GrammarTurn {
 public:
  // `never` are tokens that cannot be drawn in any case.
  GrammarTurn(std::shared_ptr<const TurnGrammar> grammar, const TokensByText* tokens,
              std::span<const TokenId> never);

  // What may be drawn behind these, which begin with those that it was asked with before. Never
  // empty: where no token spells what must follow, the turn may end.
  std::vector<TokenId> Allowed(std::span<const TokenId> drawn);

 private:
  const std::shared_ptr<const TurnGrammar> grammar_;
  const TokensByText* tokens_;
  const std::vector<TokenId> never_;  // ascending
  GrammarMatcher matcher_;
  GrammarMatcher::State state_;
  size_t read_ = 0;  // tokens
  std::map<GrammarMatcher::State, std::vector<TokenId>> known_;
};

}  // namespace hone
