#include "text/grammar/grammar_tokens.h"

#include <algorithm>

namespace hone {
namespace {

// A list may have every token of the vocabulary.
constexpr size_t kMostKnown = 64;

}  // namespace

TokensByText::TokensByText(const Tokenizer* tokenizer) : tokenizer_(tokenizer) {
  std::vector<bool> added(static_cast<size_t>(tokenizer->vocab_size()), false);
  for (const AddedToken& token : tokenizer->added()) {
    const std::optional<TokenId> id = tokenizer->FindAdded(token.content);
    if (id) added[static_cast<size_t>(*id)] = true;
  }
  for (TokenId id = 0; id < tokenizer->vocab_size(); ++id) {
    if (!tokenizer->IsToken(id)) continue;
    (added[static_cast<size_t>(id)] ? marks_ : letters_)
        .emplace_back(tokenizer->TokenBytes(id), id);
  }
  std::sort(letters_.begin(), letters_.end());
}

void TokensByText::Collect(std::span<const Entry> range, size_t depth, GrammarMatcher* matcher,
                           GrammarMatcher::State state, std::vector<TokenId>* found) const {
  // Those that end here come first.
  while (!range.empty() && range.front().first.size() == depth) {
    found->push_back(range.front().second);
    range = range.subspan(1);
  }
  while (!range.empty()) {
    const auto byte = static_cast<unsigned char>(range.front().first[depth]);
    const auto end = std::partition_point(range.begin(), range.end(), [&](const Entry& entry) {
      return static_cast<unsigned char>(entry.first[depth]) == byte;
    });
    const auto count = static_cast<size_t>(end - range.begin());
    const GrammarMatcher::State next = matcher->Next(state, byte);
    if (next != GrammarMatcher::kNowhere) {
      Collect(range.first(count), depth + 1, matcher, next, found);
    }
    range = range.subspan(count);
  }
}

std::vector<TokenId> TokensByText::GoOn(GrammarMatcher* matcher,
                                        GrammarMatcher::State state) const {
  std::vector<TokenId> found;
  std::vector<std::string_view> marks;
  for (const auto& [text, id] : marks_) {
    if (!matcher->LiteralGoesOn(state, text)) continue;
    found.push_back(id);
    marks.push_back(text);
  }
  const GrammarMatcher::State letters = matcher->WithoutLiterals(state, marks);
  if (letters != GrammarMatcher::kNowhere) Collect(letters_, 0, matcher, letters, &found);
  std::sort(found.begin(), found.end());
  return found;
}

GrammarTurn::GrammarTurn(std::shared_ptr<const TurnGrammar> grammar, const TokensByText* tokens,
                         std::span<const TokenId> never)
    : grammar_(std::move(grammar)),
      tokens_(tokens),
      never_([&] {
        std::vector<TokenId> sorted(never.begin(), never.end());
        std::sort(sorted.begin(), sorted.end());
        return sorted;
      }()),
      matcher_(&grammar_->grammar, grammar_->start),
      state_(matcher_.start()) {}

std::vector<TokenId> GrammarTurn::Allowed(std::span<const TokenId> drawn) {
  for (; read_ < drawn.size(); ++read_) {
    for (const char byte : tokens_->tokenizer().TokenBytes(drawn[read_])) {
      state_ = matcher_.Next(state_, static_cast<unsigned char>(byte));
    }
  }
  if (state_ == GrammarMatcher::kNowhere) return grammar_->ends;
  if (const auto known = known_.find(state_); known != known_.end()) return known->second;
  std::vector<TokenId> allowed = tokens_->GoOn(&matcher_, state_);
  if (matcher_.Accepts(state_)) {
    allowed.insert(allowed.end(), grammar_->ends.begin(), grammar_->ends.end());
    std::sort(allowed.begin(), allowed.end());
    allowed.erase(std::unique(allowed.begin(), allowed.end()), allowed.end());
  }
  std::erase_if(allowed, [&](TokenId token) {
    return std::binary_search(never_.begin(), never_.end(), token);
  });
  if (allowed.empty()) allowed = grammar_->ends;
  if (known_.size() >= kMostKnown) known_.clear();
  return known_.emplace(state_, std::move(allowed)).first->second;
}

}  // namespace hone
