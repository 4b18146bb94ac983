// Which tool: one call, plainly asked for, among tools that are easily confused.

#include "envs/desk/kinds.h"

namespace hone::desk {
namespace {

bool AskWeather(Draft* draft, const Wording& wording, std::string_view field) {
  const auto c = draft->City(), d = draft->Day();
  if (!draft->Gold(WeatherKey(c, d))) return false;
  draft->Ask(wording, {{"c", c}, {"d", d}});
  draft->Call("weather", Json::Of({{"city", c}, {"day", d}}));
  draft->Answer("${0." + std::string(field) + "}");
  return true;
}

bool Sky(Draft* draft) {
  return AskWeather(draft,
                    {{"What is the sky in {c} on {d}?", "How is the sky over {c} on {d}?"},
                     {"On {d}, what is the sky over {c}?"}},
                    "sky");
}

bool Temp(Draft* draft) {
  return AskWeather(draft,
                    {{"How warm is {c} on {d}?", "What is the temp in {c} on {d}?"},
                     {"On {d}, how warm is {c}?"}},
                    "temp");
}

bool AskContact(Draft* draft, const Wording& wording, std::string_view field) {
  const auto n = draft->Name();
  if (!draft->Gold(ContactKey(n))) return false;
  draft->Ask(wording, {{"n", n}});
  draft->Call("contact", Json::Of({{"name", n}}));
  draft->Answer("${0." + std::string(field) + "}");
  return true;
}

bool Phone(Draft* draft) {
  return AskContact(
      draft,
      {{"What is the phone of {n}?", "How do I call {n}?"}, {"On what phone do I call {n}?"}},
      "phone");
}

bool Home(Draft* draft) {
  return AskContact(
      draft,
      {{"Where does {n} live?", "Which city is home of {n}?"}, {"In which city does {n} live?"}},
      "city");
}

bool AskSchedule(Draft* draft, const Wording& wording, std::string_view field) {
  const auto n = draft->Name(), d = draft->Day();
  if (!draft->Gold(ScheduleKey(n, d))) return false;
  draft->Ask(wording, {{"n", n}, {"d", d}});
  draft->Call("schedule", Json::Of({{"name", n}, {"day", d}}));
  draft->Answer("${0." + std::string(field) + "}");
  return true;
}

bool Event(Draft* draft) {
  return AskSchedule(draft,
                     {{"What does {n} do on {d}?", "What is {n} busy with on {d}?"},
                      {"On {d}, what does {n} do?"}},
                     "event");
}

bool Hour(Draft* draft) {
  return AskSchedule(draft,
                     {{"At what hour is {n} busy on {d}?", "When is {n} busy on {d}?"},
                      {"On {d}, when is {n} busy?"}},
                     "hour");
}

bool ClockIn(Draft* draft) {
  const auto c = draft->City();
  if (!draft->Gold(ClockKey(c))) return false;
  draft->Ask(
      {{"What hour is it in {c}?", "How late is it now in {c}?"}, {"In {c}, how late is it?"}},
      {{"c", c}});
  draft->Call("clock", Json::Of({{"city", c}}));
  draft->Answer("${0.hour}");
  return true;
}

bool Knowledge(Draft* draft) {
  const auto topic = draft->Pick(Topics()), c = draft->City();
  if (!draft->Gold(SearchKey(topic, c))) return false;
  draft->Ask(
      {{"Which {t} is known in {c}?", "What is the {t} of {c}?"}, {"In {c}, what is the {t}?"}},
      {{"t", topic}, {"c", c}});
  draft->Call("search", Json::Of({{"query", std::string(topic) + " " + std::string(c)}}));
  draft->Answer("${0.text}");
  return true;
}

bool Calc(Draft* draft) {
  constexpr std::string_view kWords[] = {"plus", "times", "minus"};
  constexpr std::string_view kOps = "+*-";
  const int64_t a = draft->Number(11, 99), b = draft->Number(11, 99);
  const size_t op = draft->rng().Below(kOps.size());
  if (!draft->Gold(SumKey(a, kOps[op], b))) return false;
  const std::string first = std::to_string(a), second = std::to_string(b);
  draft->Ask({{"What is {a} {op} {b}?"}, {"How many is {a} {op} {b}?"}},
             {{"a", first}, {"op", kWords[op]}, {"b", second}});
  draft->Call("calculator", Json::Of({{"expression", first + kOps[op] + second}}));
  draft->Answer("${0.result}");
  return true;
}

bool ConvertPlain(Draft* draft) {
  const Conversion& way = Conversions()[draft->rng().Below(Conversions().size())];
  const int64_t amount = draft->Number(11, 399);
  if (!draft->Gold(ConvertKey(amount, way.from, way.to))) return false;
  draft->Ask({{"How many {to} is {a} {from}?", "Give {a} {from} in {to}."},
              {"What is {a} {from} in {to}?"}},
             {{"a", std::to_string(amount)}, {"from", way.from}, {"to", way.to}});
  draft->Call("convert", Json::Of({{"amount", amount}, {"from", way.from}, {"to", way.to}}));
  draft->Answer("${0.amount}");
  return true;
}

// Notes that do not answer the question.
bool NearSky(Draft* draft) {
  const auto c = draft->City(), d = draft->Day(), s = draft->Pick(Skies());
  if (!draft->Gold(WeatherKey(c, d))) return false;
  draft->Ask({{"Note: the sky in {c} on {d} is {s}. How warm is {c} on {d}?",
               "Note: the sky in {c} on {d} is {s}. What is the temp in {c} on {d}?"}},
             {{"c", c}, {"d", d}, {"s", s}});
  draft->Call("weather", Json::Of({{"city", c}, {"day", d}}));
  draft->Answer("${0.temp}");
  return true;
}

bool NearPhone(Draft* draft) {
  const auto n = draft->Name();
  if (!draft->Gold(ContactKey(n))) return false;
  const std::string p = std::to_string(draft->Number(1000, 9999));
  draft->Ask({{"Note: the phone of {n} is {p}. Where does {n} live?",
               "Note: the phone of {n} is {p}. Which city is home of {n}?"}},
             {{"n", n}, {"p", p}});
  draft->Call("contact", Json::Of({{"name", n}}));
  draft->Answer("${0.city}");
  return true;
}

constexpr Kind kWhich[] = {{"sky", Family::kWhich, 1, Sky, false, true},
                           {"temp", Family::kWhich, 1, Temp, false, true},
                           {"phone", Family::kWhich, 1, Phone, false, true},
                           {"city", Family::kWhich, 1, Home, false, true},
                           {"event", Family::kWhich, 1, Event, false, true},
                           {"hour", Family::kWhich, 1, Hour, false, true},
                           {"clock", Family::kWhich, 1, ClockIn, false, true},
                           {"kb", Family::kWhich, 1, Knowledge, false, true},
                           {"calc", Family::kWhich, 1, Calc, false, true},
                           {"conv", Family::kWhich, 1, ConvertPlain, false, true},
                           {"near_sky", Family::kWhich, 1, NearSky},
                           {"near_phone", Family::kWhich, 1, NearPhone}};

}  // namespace

std::span<const Kind> WhichKinds() { return kWhich; }

}  // namespace hone::desk
