// Pipelines: calls that need what earlier ones returned.

#include "envs/desk/kinds.h"

namespace hone::desk {
namespace {

bool HomeSky(Draft* draft) {
  const auto n = draft->Name(), d = draft->Day();
  if (!draft->Gold(ContactKey(n))) return false;
  if (!draft->Gold(WeatherKey(draft->world().ContactOf(n).city, d))) return false;
  draft->Ask(
      {{"What is the sky where {n} lives on {d}?"}, {"On {d}, what is the sky where {n} lives?"}},
      {{"n", n}, {"d", d}});
  draft->Call("contact", Json::Of({{"name", n}}));
  draft->Call("weather", Json::Of({{"city", "${0.city}"}, {"day", d}}));
  draft->Answer("${1.sky}");
  return true;
}

bool HomeKnowledge(Draft* draft) {
  const auto n = draft->Name(), topic = draft->Pick(Topics());
  if (!draft->Gold(ContactKey(n))) return false;
  if (!draft->Gold(SearchKey(topic, draft->world().ContactOf(n).city))) return false;
  draft->Ask({{"What is the {t} where {n} lives?"}}, {{"t", topic}, {"n", n}});
  draft->Call("contact", Json::Of({{"name", n}}));
  draft->Call("search", Json::Of({{"query", std::string(topic) + " ${0.city}"}}));
  draft->Answer("${1.text}");
  return true;
}

bool HomeClock(Draft* draft) {
  const auto n = draft->Name();
  if (!draft->Gold(ContactKey(n))) return false;
  if (!draft->Gold(ClockKey(draft->world().ContactOf(n).city))) return false;
  draft->Ask({{"What hour is it where {n} lives?"}}, {{"n", n}});
  draft->Call("contact", Json::Of({{"name", n}}));
  draft->Call("clock", Json::Of({{"city", "${0.city}"}}));
  draft->Answer("${1.hour}");
  return true;
}

bool TextSky(Draft* draft) {
  const auto n = draft->Name(), c = draft->City(), d = draft->Day();
  if (!draft->Gold(WeatherKey(c, d))) return false;
  if (!draft->Gold(SendKey(n, draft->world().WeatherOf(c, d).sky))) return false;
  draft->Ask({{"Text {n} the sky in {c} on {d}."}, {"Let {n} know the sky in {c} on {d}."}},
             {{"n", n}, {"c", c}, {"d", d}});
  draft->Call("weather", Json::Of({{"city", c}, {"day", d}}));
  draft->Call("send", Json::Of({{"to", n}, {"text", "${0.sky}"}}));
  draft->Answer("done");
  return true;
}

// Two temperatures on one day, added.
bool AddTemps(Draft* draft, std::string_view c, std::string_view c2, std::string_view d,
              int64_t* sum) {
  if (!draft->Gold(WeatherKey(c, d)) || !draft->Gold(WeatherKey(c2, d))) return false;
  const int64_t a = draft->world().WeatherOf(c, d).temp, b = draft->world().WeatherOf(c2, d).temp;
  if (!draft->Gold(SumKey(a, '+', b))) return false;
  *sum = a + b;
  draft->Call("weather", Json::Of({{"city", c}, {"day", d}}));
  draft->Call("weather", Json::Of({{"city", c2}, {"day", d}}));
  draft->Call("calculator", Json::Of({{"expression", "${0.temp}+${1.temp}"}}));
  return true;
}

bool Sum(Draft* draft) {
  const auto c = draft->City(), c2 = draft->OtherThan(c, Cities()), d = draft->Day();
  int64_t sum = 0;
  if (!AddTemps(draft, c, c2, d, &sum)) return false;
  draft->Ask({{"Add the temp in {c} and the temp in {c2} on {d}."}},
             {{"c", c}, {"c2", c2}, {"d", d}});
  draft->Answer("${2.result}");
  return true;
}

bool TextEvent(Draft* draft) {
  const auto n = draft->Name(), n2 = draft->OtherThan(n, Names()), d = draft->Day();
  if (!draft->Gold(ScheduleKey(n2, d))) return false;
  if (!draft->Gold(SendKey(n, draft->world().ScheduleOf(n2, d).event))) return false;
  draft->Ask({{"Text {n} what {n2} does on {d}."}}, {{"n", n}, {"n2", n2}, {"d", d}});
  draft->Call("schedule", Json::Of({{"name", n2}, {"day", d}}));
  draft->Call("send", Json::Of({{"to", n}, {"text", "${0.event}"}}));
  draft->Answer("done");
  return true;
}

bool AddHours(Draft* draft) {
  const auto n = draft->Name(), n2 = draft->OtherThan(n, Names()), d = draft->Day();
  if (!draft->Gold(ScheduleKey(n, d)) || !draft->Gold(ScheduleKey(n2, d))) return false;
  const int64_t a = draft->world().ScheduleOf(n, d).hour, b = draft->world().ScheduleOf(n2, d).hour;
  if (!draft->Gold(SumKey(a, '+', b))) return false;
  draft->Ask({{"Add the hour of {n} and the hour of {n2} on {d}."}},
             {{"n", n}, {"n2", n2}, {"d", d}});
  draft->Call("schedule", Json::Of({{"name", n}, {"day", d}}));
  draft->Call("schedule", Json::Of({{"name", n2}, {"day", d}}));
  draft->Call("calculator", Json::Of({{"expression", "${0.hour}+${1.hour}"}}));
  draft->Answer("${2.result}");
  return true;
}

bool TextHomeSky(Draft* draft) {
  const auto n = draft->Name(), n2 = draft->OtherThan(n, Names()), d = draft->Day();
  if (!draft->Gold(ContactKey(n2))) return false;
  const auto c = draft->world().ContactOf(n2).city;
  if (!draft->Gold(WeatherKey(c, d))) return false;
  if (!draft->Gold(SendKey(n, draft->world().WeatherOf(c, d).sky))) return false;
  draft->Ask({{"Text {n} the sky where {n2} lives on {d}."}}, {{"n", n}, {"n2", n2}, {"d", d}});
  draft->Call("contact", Json::Of({{"name", n2}}));
  draft->Call("weather", Json::Of({{"city", "${0.city}"}, {"day", d}}));
  draft->Call("send", Json::Of({{"to", n}, {"text", "${1.sky}"}}));
  draft->Answer("done");
  return true;
}

bool TextSum(Draft* draft) {
  const auto n = draft->Name(), c = draft->City(), c2 = draft->OtherThan(c, Cities());
  const auto d = draft->Day();
  int64_t sum = 0;
  if (!AddTemps(draft, c, c2, d, &sum)) return false;
  if (!draft->Gold(SendKey(n, std::to_string(sum)))) return false;
  draft->Ask({{"Text {n} the temp in {c} plus the temp in {c2} on {d}."}},
             {{"n", n}, {"c", c}, {"c2", c2}, {"d", d}});
  // The sum is a number; what is sent is text.
  draft->Call("send", Json::Of({{"to", n}, {"text", "${2.result|text}"}}));
  draft->Answer("done");
  return true;
}

// Two of them begin with a person's day: people whom training never looks up (their contact is
// held out) are otherwise met only where one call is enough, and RL learns just that (decision 23).
constexpr Kind kPipeline[] = {{"d_sky", Family::kPipeline, 2, HomeSky, false, true},
                              {"d_kb", Family::kPipeline, 2, HomeKnowledge},
                              {"d_clock", Family::kPipeline, 2, HomeClock, true},
                              {"d_text", Family::kPipeline, 2, TextSky, false, true},
                              {"d_sum", Family::kPipeline, 3, Sum},
                              {"d_event", Family::kPipeline, 2, TextEvent},
                              {"d_hours", Family::kPipeline, 3, AddHours},
                              {"d_text3", Family::kPipeline, 3, TextHomeSky},
                              {"d_sumtext", Family::kPipeline, 4, TextSum}};

}  // namespace

std::span<const Kind> PipelineKinds() { return kPipeline; }

}  // namespace hone::desk
