#include "text/grammar/grammar.h"

#include <algorithm>

#include "base/check.h"

namespace hone {
namespace {

constexpr int32_t kBottom = -1;   // below the first rule: behind it, the text ends
constexpr int32_t kUnasked = -2;  // of a transition

}  // namespace

Grammar::Rule Grammar::Add(Definition definition) {
  rules_.push_back(std::move(definition));
  return static_cast<Rule>(rules_.size()) - 1;
}

Grammar::Rule Grammar::Literal(std::string text) {
  return Add({.kind = Kind::kLiteral, .text = std::move(text)});
}

Grammar::Rule Grammar::OneOf(const Bytes& bytes) {
  return Add({.kind = Kind::kOneOf, .bytes = bytes});
}

Grammar::Rule Grammar::Sequence(std::vector<Rule> parts) {
  return Add({.kind = Kind::kSequence, .parts = std::move(parts)});
}

Grammar::Rule Grammar::Choice(std::vector<Rule> parts) {
  return Add({.kind = Kind::kChoice, .parts = std::move(parts)});
}

Grammar::Rule Grammar::Repeat(Rule part, int64_t least, int64_t most) {
  return Add({.kind = Kind::kRepeat, .parts = {part}, .least = least, .most = most});
}

Grammar::Rule Grammar::Until(std::string end) {
  CHECK(!end.empty(), "a text that ends with something");
  // As Knuth, Morris and Pratt look for a word.
  std::vector<int32_t> falls_back(end.size() + 1, 0);
  for (size_t i = 1; i < end.size(); ++i) {
    int32_t length = falls_back[i];
    while (length > 0 && end[i] != end[static_cast<size_t>(length)]) {
      length = falls_back[static_cast<size_t>(length)];
    }
    falls_back[i + 1] = end[i] == end[static_cast<size_t>(length)] ? length + 1 : 0;
  }
  return Add({.kind = Kind::kUntil, .text = std::move(end), .falls_back = std::move(falls_back)});
}

Grammar::Rule Grammar::Later() { return Add({.kind = Kind::kLater}); }

void Grammar::Define(Rule later, Rule as) {
  Definition& definition = rules_[static_cast<size_t>(later)];
  CHECK(definition.kind == Kind::kLater && definition.parts.empty(), "a rule is defined once");
  definition.parts = {as};
}

GrammarMatcher::GrammarMatcher(const Grammar* grammar, Grammar::Rule start) : grammar_(grammar) {
  Closure closure;
  Enter(start, kBottom, &closure);
  start_ = StateOf(std::move(closure));
}

int32_t GrammarMatcher::PlaceOf(const Place& place) {
  const auto [found, fresh] = numbers_.emplace(place, static_cast<int32_t>(places_.size()));
  if (fresh) places_.push_back(place);
  return found->second;
}

// Goes down to the bytes that a rule can begin with. `below` is where one goes on behind it.
void GrammarMatcher::Enter(Grammar::Rule rule, int32_t below, Closure* closure) {
  const Place entered{rule, 0, below};
  if (std::find(closure->seen.begin(), closure->seen.end(), entered) != closure->seen.end()) return;
  closure->seen.push_back(entered);
  const Grammar::Definition& definition = grammar_->rules_[static_cast<size_t>(rule)];
  switch (definition.kind) {
    case Grammar::Kind::kLiteral:
      if (definition.text.empty()) {
        Leave(below, closure);
        return;
      }
      [[fallthrough]];
    case Grammar::Kind::kOneOf:
    case Grammar::Kind::kUntil: closure->places.push_back(PlaceOf(entered)); return;
    case Grammar::Kind::kChoice:
      for (const Grammar::Rule part : definition.parts) Enter(part, below, closure);
      return;
    case Grammar::Kind::kLater:
      CHECK(!definition.parts.empty(), "a rule that was never defined");
      Enter(definition.parts[0], below, closure);
      return;
    case Grammar::Kind::kSequence: Leave(PlaceOf(entered), closure); return;
    case Grammar::Kind::kRepeat: Repeated(entered, closure); return;
  }
}

// What comes where `place.at` parts have been.
void GrammarMatcher::Repeated(const Place& place, Closure* closure) {
  const Grammar::Definition& definition = grammar_->rules_[static_cast<size_t>(place.rule)];
  if (place.at >= definition.least) Leave(place.below, closure);
  if (definition.most != Grammar::kNoLimit && place.at >= definition.most) return;
  // Beyond what is counted all are alike.
  const bool counts = place.at < definition.least || definition.most != Grammar::kNoLimit;
  const Place next{place.rule, counts ? place.at + 1 : place.at, place.below};
  Enter(definition.parts[0], PlaceOf(next), closure);
}

// A part has ended: on with what is behind it.
void GrammarMatcher::Leave(int32_t number, Closure* closure) {
  if (number == kBottom) {
    closure->accepts = true;
    return;
  }
  const Place place = places_[static_cast<size_t>(number)];
  const Grammar::Definition& definition = grammar_->rules_[static_cast<size_t>(place.rule)];
  if (definition.kind == Grammar::Kind::kRepeat) {
    Repeated(place, closure);
    return;
  }
  const auto at = static_cast<size_t>(place.at);
  if (at == definition.parts.size()) {
    Leave(place.below, closure);
    return;
  }
  const bool last = at + 1 == definition.parts.size();
  Enter(definition.parts[at], last ? place.below : PlaceOf({place.rule, place.at + 1, place.below}),
        closure);
}

void GrammarMatcher::Step(int32_t number, unsigned char byte, Closure* closure) {
  const Place place = places_[static_cast<size_t>(number)];
  const Grammar::Definition& definition = grammar_->rules_[static_cast<size_t>(place.rule)];
  const auto letter = [&](int64_t at) {
    return static_cast<unsigned char>(definition.text[static_cast<size_t>(at)]);
  };
  const auto size = static_cast<int64_t>(definition.text.size());
  int64_t at = place.at;
  if (definition.kind == Grammar::Kind::kOneOf) {
    if (definition.bytes[byte]) Leave(place.below, closure);
    return;
  }
  if (definition.kind == Grammar::Kind::kLiteral) {
    if (letter(at) != byte) return;
    ++at;
  } else {
    while (at > 0 && letter(at) != byte) at = definition.falls_back[static_cast<size_t>(at)];
    if (letter(at) == byte) ++at;
  }
  if (at == size) {
    Leave(place.below, closure);
  } else {
    closure->places.push_back(PlaceOf({place.rule, at, place.below}));
  }
}

GrammarMatcher::State GrammarMatcher::StateOf(Closure closure) {
  if (closure.places.empty() && !closure.accepts) return kNowhere;
  std::sort(closure.places.begin(), closure.places.end());
  closure.places.erase(std::unique(closure.places.begin(), closure.places.end()),
                       closure.places.end());
  const auto [found, fresh] = known_.emplace(std::make_pair(closure.places, closure.accepts),
                                             static_cast<State>(states_.size()));
  if (fresh) states_.push_back({std::move(closure.places), closure.accepts, {}});
  return found->second;
}

GrammarMatcher::State GrammarMatcher::Next(State state, unsigned char byte) {
  if (state == kNowhere) return kNowhere;
  if (states_[static_cast<size_t>(state)].next.empty()) {
    states_[static_cast<size_t>(state)].next.assign(256, kUnasked);
  }
  const State known = states_[static_cast<size_t>(state)].next[byte];
  if (known != kUnasked) return known;
  Closure closure;
  const std::vector<int32_t> places = states_[static_cast<size_t>(state)].places;
  for (const int32_t place : places) Step(place, byte, &closure);
  const State next = StateOf(std::move(closure));
  states_[static_cast<size_t>(state)].next[byte] = next;  // StateOf may have moved them
  return next;
}

std::string_view GrammarMatcher::LiteralAt(int32_t number) const {
  const Place& place = places_[static_cast<size_t>(number)];
  const Grammar::Definition& definition = grammar_->rules_[static_cast<size_t>(place.rule)];
  const bool literal = definition.kind == Grammar::Kind::kLiteral ||
                       (definition.kind == Grammar::Kind::kUntil && place.at == 0);
  if (!literal) return "";
  return std::string_view(definition.text).substr(static_cast<size_t>(place.at));
}

bool GrammarMatcher::LiteralGoesOn(State state, std::string_view text) const {
  const std::vector<int32_t>& places = states_[static_cast<size_t>(state)].places;
  return std::any_of(places.begin(), places.end(),
                     [&](int32_t place) { return LiteralAt(place).starts_with(text); });
}

GrammarMatcher::State GrammarMatcher::WithoutLiterals(State state,
                                                      const std::vector<std::string_view>& texts) {
  Closure left;
  left.places = states_[static_cast<size_t>(state)].places;
  std::erase_if(left.places, [&](int32_t place) {
    const Grammar::Rule rule = places_[static_cast<size_t>(place)].rule;
    if (grammar_->rules_[static_cast<size_t>(rule)].kind != Grammar::Kind::kLiteral) return false;
    return std::any_of(texts.begin(), texts.end(),
                       [&](std::string_view text) { return LiteralAt(place).starts_with(text); });
  });
  return StateOf(std::move(left));
}

}  // namespace hone
