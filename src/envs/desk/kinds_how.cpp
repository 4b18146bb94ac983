// How to call: one call whose arguments have to be picked out of noise.

#include "envs/desk/kinds.h"

namespace hone::desk {
namespace {

constexpr std::string_view kStates[] = {"late", "ill", "home", "away", "ready"};

bool ConvertNoise(Draft* draft) {
  const Conversion& way = Conversions()[draft->rng().Below(Conversions().size())];
  const int64_t amount = draft->Number(11, 399), count = draft->Number(2, 9);
  const auto n = draft->Name(), d = draft->Day();
  if (!draft->Gold(ConvertKey(amount, way.from, way.to))) return false;
  draft->Ask({{"{n} has {k} bags and {a} {from} on the list. How many {to} is that?",
               "On {d} at {k} {n} wrote {a} {from}. Give that in {to}."}},
             {{"n", n},
              {"d", d},
              {"k", std::to_string(count)},
              {"a", std::to_string(amount)},
              {"from", way.from},
              {"to", way.to}});
  draft->Call("convert", Json::Of({{"amount", amount}, {"from", way.from}, {"to", way.to}}));
  draft->Answer("${0.amount}");
  return true;
}

// The day that "tomorrow" or "yesterday" is.
struct Relative {
  std::string_view word, day;
};
Relative DrawRelative(Draft* draft, std::string_view today) {
  const bool after = draft->rng().Below(2) == 0;
  return {after ? "tomorrow" : "yesterday", Days()[(IndexOf(Days(), today) + (after ? 1 : 6)) % 7]};
}

bool RelativeDay(Draft* draft) {
  const auto c = draft->City(), today = draft->Day();
  const Relative when = DrawRelative(draft, today);
  if (!draft->Gold(WeatherKey(c, when.day)) || !draft->Mention(WeatherKey(c, today))) return false;
  draft->Ask({{"Today is {d}. What is the sky in {c} {w}?"}},
             {{"d", today}, {"c", c}, {"w", when.word}});
  draft->Call("weather", Json::Of({{"city", c}, {"day", when.day}}));
  draft->Answer("${0.sky}");
  return true;
}

bool RelativeSchedule(Draft* draft) {
  const auto n = draft->Name(), today = draft->Day();
  const Relative when = DrawRelative(draft, today);
  if (!draft->Gold(ScheduleKey(n, when.day))) return false;
  draft->Ask({{"Today is {d}. What does {n} do {w}?"}}, {{"d", today}, {"n", n}, {"w", when.word}});
  draft->Call("schedule", Json::Of({{"name", n}, {"day", when.day}}));
  draft->Answer("${0.event}");
  return true;
}

bool Sorry(Draft* draft) {
  const auto d = draft->Day(), c = draft->City(), c2 = draft->OtherThan(c, Cities());
  if (!draft->Gold(WeatherKey(c2, d)) || !draft->Mention(WeatherKey(c, d))) return false;
  draft->Ask(
      {{"What is the sky in {c}, sorry, {c2} on {d}?", "How warm is {c}, no wait, {c2} on {d}?"},
       {"How is the sky over {c}, sorry, {c2} on {d}?"}},
      {{"c", c}, {"c2", c2}, {"d", d}});
  draft->Call("weather", Json::Of({{"city", c2}, {"day", d}}));
  draft->Answer(draft->phrase == 1 ? "${0.temp}" : "${0.sky}");
  return true;
}

bool WordProblem(Draft* draft) {
  const int64_t a = draft->Number(2, 30), b = draft->Number(2, 30), k = draft->Number(2, 9);
  const std::string first = std::to_string(a), second = std::to_string(b), more = std::to_string(k);
  // The same key whichever way round the product is written.
  if (!draft->Gold(SumKey(a, '*', b) + "+" + more)) return false;
  draft->Ask({{"{n} buys {a} boxes of {b} pens and {k} more. How many pens is that?"}},
             {{"n", draft->Name()}, {"a", first}, {"b", second}, {"k", more}});
  draft->Call("calculator", Json::Of({{"expression", first + "*" + second + "+" + more}}));
  draft->Answer("${0.result}");
  return true;
}

// Two inner letters that differ change places; empty when the word has none.
std::string Misspelt(Draft* draft, std::string_view word) {
  std::vector<size_t> places;
  for (size_t i = 1; i + 2 < word.size(); ++i) {
    if (word[i] != word[i + 1]) places.push_back(i);
  }
  if (places.empty()) return "";
  std::string text(word);
  const size_t at = places[draft->rng().Below(places.size())];
  std::swap(text[at], text[at + 1]);
  return text;
}

bool Typo(Draft* draft) {
  const bool person = draft->rng().Below(2) == 0;
  const auto word = person ? draft->Name() : draft->City();
  const auto d = draft->Day();
  const std::string wrong = Misspelt(draft, word);
  if (wrong.empty()) return false;
  if (!draft->Gold(person ? ContactKey(word) : WeatherKey(word, d))) return false;
  draft->typo = wrong;
  if (person) {
    draft->Ask({{"What is the phone of {w}?"}}, {{"w", wrong}});
    draft->Call("contact", Json::Of({{"name", word}}));
    draft->Answer("${0.phone}");
  } else {
    draft->Ask({{"What is the sky in {w} on {d}?"}}, {{"w", wrong}, {"d", d}});
    draft->Call("weather", Json::Of({{"city", word}, {"day", d}}));
    draft->Answer("${0.sky}");
  }
  return true;
}

bool Tell(Draft* draft) {
  const auto n = draft->Name(), n2 = draft->OtherThan(n, Names()), state = draft->Pick(kStates);
  const std::string text = PutIn("{n} is {s}", {{"n", n2}, {"s", state}});
  if (!draft->Gold(SendKey(n, text))) return false;
  draft->Ask({{"Tell {n} that {n2} is {s}.", "{n2} is {s}, let {n} know."},
              {"Let {n} know that {n2} is {s}."}},
             {{"n", n}, {"n2", n2}, {"s", state}});
  draft->Call("send", Json::Of({{"to", n}, {"text", text}}));
  draft->Answer("done");
  return true;
}

constexpr Kind kHow[] = {{"conv_noise", Family::kHow, 1, ConvertNoise},
                         {"rel_day", Family::kHow, 1, RelativeDay},
                         {"rel_sched", Family::kHow, 1, RelativeSchedule, true},
                         {"sorry", Family::kHow, 1, Sorry, false, true},
                         {"word_prob", Family::kHow, 1, WordProblem},
                         {"typo", Family::kHow, 1, Typo},
                         {"tell", Family::kHow, 1, Tell, false, true}};

}  // namespace

std::span<const Kind> HowKinds() { return kHow; }

}  // namespace hone::desk
