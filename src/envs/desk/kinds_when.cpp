// When to call: here the answer is in the request, or known by heart. And next to them, under
// "hard", requests that look like these but need an equality test.

#include "envs/desk/kinds.h"

namespace hone::desk {
namespace {

bool NoteSky(Draft* draft) {
  const auto c = draft->City(), d = draft->Day();
  if (!draft->Gold(WeatherKey(c, d))) return false;
  // The note and the world differ, so that a needless call is found out.
  const auto s = draft->OtherThan(draft->world().WeatherOf(c, d).sky, Skies());
  draft->Ask({{"Note: the sky in {c} on {d} is {s}. What is the sky in {c} on {d}?",
               "Note: the sky in {c} on {d} is {s}. How is the sky over {c} on {d}?"},
              {"Note: the sky in {c} on {d} is {s}. Which sky is over {c} on {d}?"}},
             {{"c", c}, {"d", d}, {"s", s}});
  draft->Answer(s);
  return true;
}

bool NotePhone(Draft* draft) {
  const auto n = draft->Name();
  if (!draft->Gold(ContactKey(n))) return false;
  const std::string real = draft->world().ContactOf(n).phone;
  const std::string p = std::to_string(draft->Number(1000, 9999));
  if (p == real) return false;
  draft->Ask({{"Note: the phone of {n} is {p}. What is the phone of {n}?"},
              {"Note: the phone of {n} is {p}. On what phone do I call {n}?"}},
             {{"n", n}, {"p", p}});
  draft->Answer(p);
  return true;
}

// Sums up to ten and the week's days are known by heart: no combination to hold back.
bool SmallSum(Draft* draft) {
  const int64_t a = draft->Number(1, 5), b = draft->Number(1, 5);
  const std::string first = std::to_string(a), second = std::to_string(b);
  draft->Ask({{"What is {a} plus {b}?"}}, {{"a", first}, {"b", second}});
  draft->Answer(std::to_string(a + b));
  return true;
}

bool DayAfter(Draft* draft) {
  const auto d = draft->Day();
  draft->Ask({{"Which day comes after {d}?", "Which day comes before {d}?"}}, {{"d", d}});
  const int step = draft->phrase == 0 ? 1 : 6;
  draft->Answer(Days()[(IndexOf(Days(), d) + step) % 7]);
  return true;
}

constexpr std::string_view kNearNote =
    "Note: the sky in {c2} on {d2} is {s}. What is the sky in {c} on {d}?";

bool NearNote(Draft* draft, std::string_view c, std::string_view d, std::string_view c2,
              std::string_view d2) {
  if (!draft->Gold(WeatherKey(c, d)) || !draft->Mention(WeatherKey(c2, d2))) return false;
  const auto s = draft->Pick(Skies());
  draft->Ask({{kNearNote}}, {{"c", c}, {"d", d}, {"c2", c2}, {"d2", d2}, {"s", s}});
  draft->Call("weather", Json::Of({{"city", c}, {"day", d}}));
  draft->Answer("${0.sky}");
  return true;
}

bool NearEntity(Draft* draft) {
  const auto c = draft->City(), d = draft->Day();
  return NearNote(draft, c, d, draft->OtherThan(c, Cities()), d);
}

bool NearEntity2(Draft* draft) {
  const auto c = draft->City(), d = draft->Day();
  return NearNote(draft, c, d, c, draft->OtherThan(d, Days()));
}

bool TextIf(Draft* draft) {
  const auto c = draft->City(), d = draft->Day(), n = draft->Name(), s = draft->Pick(Skies());
  const bool holds = draft->world().WeatherOf(c, d).sky == s;
  if (!draft->Gold(WeatherKey(c, d)) || !draft->Gold(SendKey(n, holds ? "go" : "stay"))) {
    return false;
  }
  draft->Ask({{"If the sky in {c} on {d} is {s} text {n} go, else text {n} stay."}},
             {{"c", c}, {"d", d}, {"s", s}, {"n", n}});
  draft->Call("weather", Json::Of({{"city", c}, {"day", d}}));
  draft->Call("send", Json::Of({{"to", n}, {"text", "go"}}));
  draft->Call("send", Json::Of({{"to", n}, {"text", "stay"}}));
  draft->plan.calls[1].only_if = {"${0.sky}", PlanCondition::Test::kEqual, s};
  draft->plan.calls[2].only_if = {"${0.sky}", PlanCondition::Test::kDifferent, s};
  draft->Answer("done");
  return true;
}

bool Warmer(Draft* draft) {
  const auto d = draft->Day(), n = draft->Name(), n2 = draft->OtherThan(n, Names());
  const World& world = draft->world();
  const auto c = world.ContactOf(n).city, c2 = world.ContactOf(n2).city;
  if (world.WeatherOf(c, d).temp == world.WeatherOf(c2, d).temp) return false;
  if (!draft->Gold(ContactKey(n)) || !draft->Gold(ContactKey(n2)) ||
      !draft->Gold(WeatherKey(c, d)) || !draft->Gold(WeatherKey(c2, d))) {
    return false;
  }
  draft->Ask({{"Who has it warmer on {d}, {n} or {n2}?"}}, {{"d", d}, {"n", n}, {"n2", n2}});
  draft->Call("contact", Json::Of({{"name", n}}));
  draft->Call("contact", Json::Of({{"name", n2}}));
  draft->Call("weather", Json::Of({{"city", "${0.city}"}, {"day", d}}));
  draft->Call("weather", Json::Of({{"city", "${1.city}"}, {"day", d}}));
  draft->plan.answers = {{n, PlanCondition{"${2.temp}", PlanCondition::Test::kAbove, "${3.temp}"}},
                         {n2, {}}};
  return true;
}

constexpr Kind kWhen[] = {{"note_sky", Family::kWhen, 0, NoteSky, false, true},
                          {"note_phone", Family::kWhen, 0, NotePhone, false, true},
                          {"small_sum", Family::kWhen, 0, SmallSum},
                          {"day_after", Family::kWhen, 0, DayAfter}};
constexpr Kind kHard[] = {{"near_ent", Family::kHard, 1, NearEntity},
                          {"near_ent2", Family::kHard, 1, NearEntity2},
                          {"d_if", Family::kHard, 2, TextIf},
                          {"d_warm", Family::kHard, 4, Warmer}};

}  // namespace

std::span<const Kind> WhenKinds() { return kWhen; }
std::span<const Kind> HardKinds() { return kHard; }

}  // namespace hone::desk
