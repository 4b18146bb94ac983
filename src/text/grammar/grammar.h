#pragma once

#include <bitset>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

// Sets of texts, byte by byte: what a turn may be where somebody asks for a certain form.

namespace hone {

// Rules are put together from below; the text is one that the start rule allows. Rules may refer to
// themselves through Later, but not so that one begins with itself.
class Grammar {
 public:
  using Rule = int32_t;
  using Bytes = std::bitset<256>;
  static constexpr int64_t kNoLimit = -1;

  Rule Literal(std::string text);
  Rule OneOf(const Bytes& bytes);
  Rule Sequence(std::vector<Rule> parts);
  Rule Choice(std::vector<Rule> parts);
  // Between `least` and `most` times.
  Rule Repeat(Rule part, int64_t least, int64_t most = kNoLimit);
  Rule Optional(Rule part) { return Repeat(part, 0, 1); }
  // Any text up to and with the first place where `end` stands, which is not empty.
  Rule Until(std::string end);
  // One that is defined later, and then once.
  Rule Later();
  void Define(Rule later, Rule as);

 private:
  friend class GrammarMatcher;
  enum class Kind { kLiteral, kOneOf, kSequence, kChoice, kRepeat, kUntil, kLater };
  struct Definition {
    Kind kind = Kind::kLiteral;
    std::string text;
    Bytes bytes;
    std::vector<Rule> parts;
    int64_t least = 0, most = 0;
    std::vector<int32_t> falls_back;  // of kUntil: how much of `end` still stands there
  };
  Rule Add(Definition definition);

  std::vector<Definition> rules_;
};

// Where one stands in texts of a grammar. Every place that is reached is remembered with what
// follows it, so that the same place is quick the second time. Not thread-safe. The grammar must
// outlive it and not change.
class GrammarMatcher {
 public:
  using State = int32_t;
  static constexpr State kNowhere = -1;  // no text of the grammar goes on like this

  GrammarMatcher(const Grammar* grammar, Grammar::Rule start);

  State start() const { return start_; }
  State Next(State state, unsigned char byte);
  // The text may end here.
  bool Accepts(State state) const { return states_[static_cast<size_t>(state)].accepts; }
  // Some literal of the grammar goes on here with the whole of `text`: so that marks can be told
  // from letters.
  bool LiteralGoesOn(State state, std::string_view text) const;
  // The same state without the literals that go on with one of these texts.
  State WithoutLiterals(State state, const std::vector<std::string_view>& texts);

 private:
  // A place inside a rule, on top of where one goes on behind it; equal places are the same number.
  struct Place {
    Grammar::Rule rule;
    int64_t at;
    int32_t below;
    auto operator<=>(const Place&) const = default;  // NOLINT: no null is meant
  };
  struct Reached {
    std::vector<int32_t> places;  // ascending
    bool accepts = false;
    std::vector<State> next;  // by byte; empty: not asked yet
  };
  struct Closure {
    std::vector<int32_t> places;
    bool accepts = false;
    std::vector<Place> seen;
  };

  // What is left of a literal, or of the end of an Until that has not begun.
  std::string_view LiteralAt(int32_t place) const;
  int32_t PlaceOf(const Place& place);
  void Enter(Grammar::Rule rule, int32_t below, Closure* closure);
  void Leave(int32_t place, Closure* closure);
  void Repeated(const Place& place, Closure* closure);
  void Step(int32_t place, unsigned char byte, Closure* closure);
  State StateOf(Closure closure);

  const Grammar* grammar_;
  std::vector<Place> places_;
  std::map<Place, int32_t> numbers_;
  std::vector<Reached> states_;
  std::map<std::pair<std::vector<int32_t>, bool>, State> known_;
  State start_ = kNowhere;
};

}  // namespace hone
