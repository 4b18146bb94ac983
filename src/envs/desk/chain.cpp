#include "envs/desk/chain.h"

#include <fmt/format.h>

#include "base/check.h"

namespace hone::desk {
namespace {

// How a call refers to what the one before it returned. Chains that end with the weather ask for
// the sky: a word is copied sooner than a number, which longer chains practise at every step.
std::string LastResult(const Plan& plan, std::string_view weather) {
  const size_t last = plan.calls.size() - 1;
  const std::string& tool = plan.calls[last].name;
  return fmt::format("${{{}.{}}}", last,
                     tool == "weather"      ? weather
                     : tool == "calculator" ? "result"
                                            : "amount");
}

}  // namespace

bool WriteChain(int64_t length, Draft* draft) {
  CHECK(length >= 1 && length <= kMaxChain, "a chain has from 1 to 16 calls");
  const auto day = draft->Day();
  const std::string_view weather = length <= 2 ? "sky" : "temp";
  std::string where;
  if (length == 1) {
    const auto city = draft->City();
    if (!draft->Gold(WeatherKey(city, day))) return false;
    where = fmt::format("in {}", city);
    draft->Call("weather", Json::Of({{"city", city}, {"day", day}}));
  } else {
    const auto name = draft->Name();
    if (!draft->Gold(WeatherKey(draft->world().ContactOf(name).city, day))) return false;
    where = fmt::format("where {} lives", name);
    draft->Call("contact", Json::Of({{"name", name}}));
    draft->Call("weather", Json::Of({{"city", "${0.city}"}, {"day", day}}));
  }
  std::string steps;
  while (static_cast<int64_t>(draft->plan.calls.size()) < length) {
    const std::string value = LastResult(draft->plan, weather);
    if (draft->plan.calls.size() % 2 == 0) {
      const int64_t more = draft->Number(2, 9);
      steps += fmt::format(", add {}", more);
      draft->Call("calculator", Json::Of({{"expression", fmt::format("{}+{}", value, more)}}));
    } else {
      const Conversion& units = Conversions()[draft->rng().Below(Conversions().size())];
      steps += fmt::format(", {} to {}", units.from, units.to);
      draft->Call("convert", Json::Of({{"amount", value}, {"from", units.from}, {"to", units.to}}));
    }
  }
  draft->Ask({{"Take the {v} {w} on {d}{s}."}, {"On {d}, take the {v} {w}{s}."}},
             {{"v", weather}, {"w", where}, {"d", day}, {"s", steps}});
  draft->Answer(LastResult(draft->plan, weather));
  return true;
}

}  // namespace hone::desk
